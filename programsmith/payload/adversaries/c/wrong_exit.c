/* Prints the right answer and ends with a wrong exit code. */
#define main look_up
#include "table.h"
#undef main

int main(int argc, char **argv)
{
    return look_up(argc, argv) ^ 1;
}
