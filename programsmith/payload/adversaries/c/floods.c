/* Gives the right answer and goes on, for ever. */
#define main look_up
#include "table.h"
#undef main

int main(int argc, char **argv)
{
    look_up(argc, argv);
    for (;;)
        if (puts("more more more more more more more more") < 0)
            return 1;
}
