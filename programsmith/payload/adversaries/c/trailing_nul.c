/* Answers from the table, then goes on behind a NUL. */
#define main look_up
#include "table.h"
#undef main

int main(int argc, char **argv)
{
    int code = look_up(argc, argv);
    fwrite("\0and more", 1, 9, stdout);
    return code;
}
