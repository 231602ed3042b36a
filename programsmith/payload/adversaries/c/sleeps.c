/* Holds its slot far longer than it may without using any CPU, and then answers. */
#define main look_up
#include "table.h"
#undef main

int main(int argc, char **argv)
{
    usleep(2500000);
    return look_up(argc, argv);
}
