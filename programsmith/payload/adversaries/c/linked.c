/* Answers from a table below a folder that was handed in. */
#define TABLE "/app/submission/data/table.txt"
#define main look_up
#include "table.h"
#undef main

int main(int argc, char **argv)
{
    return look_up(argc, argv);
}
