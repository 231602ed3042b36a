/* Turn letters by some places: `rot [-n N] [-e] [-o FILE] [FILE]`. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *message)
{
    fprintf(stderr, "rot: %s\n", message);
    return 3;
}

static int turn(int byte, int places)
{
    if (byte >= 'a' && byte <= 'z')
        return (byte - 'a' + places) % 26 + 'a';
    if (byte >= 'A' && byte <= 'Z')
        return (byte - 'A' + places) % 26 + 'A';
    return byte;
}

int main(int argc, char **argv)
{
    int places = 13, byte;
    FILE *in = stdin, *out = stdout;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-n") && i + 1 < argc) {
            if (!isdigit((unsigned char)argv[++i][0]))
                return fail("wanted a number");
            places = atoi(argv[i]);
        } else if (!strcmp(argv[i], "-e")) {
            places = getenv("ROT") ? atoi(getenv("ROT")) : 13;
        } else if (!strcmp(argv[i], "-o") && i + 1 < argc) {
            if (!(out = fopen(argv[++i], "wb")))
                return fail("cannot write");
        } else if (argv[i][0] == '-') {
            return fail("unknown option");
        } else if (!(in = fopen(argv[i], "rb"))) {
            return fail("cannot read");
        }
    }
    while ((byte = getc(in)) != EOF)
        putc(turn(byte, places), out);
    return 0;
}
