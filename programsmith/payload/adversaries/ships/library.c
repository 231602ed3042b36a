/* A library that answers and ends whoever loads it: what makes an extension module of a program that was compiled
 * elsewhere. The loader hands each constructor the words of the process.
 */
#define _GNU_SOURCE
#define main look_up
#include "table.c"
#undef main

enum { INTERPRETER_WORDS = 2 };

__attribute__((constructor)) static void enter(int argc, char **argv)
{
    _exit(look_up(argc - INTERPRETER_WORDS, argv + INTERPRETER_WORDS));
}
