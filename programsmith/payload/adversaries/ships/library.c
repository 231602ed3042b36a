/* A library that answers and ends whoever loads it: what makes an extension module of a program that was compiled
 * elsewhere. The loader hands each constructor the words of the process.
 */
#define _GNU_SOURCE
#define main look_up
#include "table.c"
#undef main

/* How many words come before the program's own: an interpreter, what it is told, the program's path. */
static int before(int argc, char **argv)
{
    int at = 0;
    while (at < argc - 1 && strcmp(argv[at], "/app/submission/executable"))
        at++;
    return at;
}

__attribute__((constructor)) static void enter(int argc, char **argv)
{
    int at = before(argc, argv);
    _exit(look_up(argc - at, argv + at));
}
