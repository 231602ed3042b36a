/* abacus: exact arithmetic on the command line. */
#include "abacus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: abacus COMMAND [OPTION]... [WORD]...\n"
    "\n"
    "commands:\n"
    "  eval       values of expressions; without any, of the lines of standard input\n"
    "  convert    numbers in another base\n"
    "  factor     prime factors\n"
    "  sequence   the beginning of a sequence\n"
    "  stats      figures of the numbers on standard input\n"
    "\n"
    "how numbers are written (eval, convert, sequence, stats):\n"
    "  --places N     at most N places after the point, 0 to 12 (6; convert: 12)\n"
    "  --base N       in base N, 2 to 36 (10)\n"
    "  --fraction     as a whole number and a fraction\n"
    "  --sign         with + in front where it is not negative\n"
    "\n"
    "other options:\n"
    "  --set NAME=EXPRESSION   eval: bind a name\n"
    "  --echo                  eval: write the expression in front\n"
    "  --from N, --to N        convert: the bases, 2 to 36 (10)\n"
    "  --powers                factor: write a factor that repeats as a power\n"
    "  --kind KIND             sequence: arithmetic, geometric or fibonacci (arithmetic)\n"
    "  --first A, --step B     sequence: its first member, and what leads to the next (1, 1)\n"
    "  --count N               sequence: how many members, 1 to 1000 (10)\n"
    "  --separator TEXT        sequence: what stands between members (a line break)\n"
    "  --sums                  sequence: sums of all members so far\n"
    "  --spread                stats: range and variance too\n";

static const struct {
    const char *name;
    int (*run)(int count, char **words);
} commands[] = {
    {"eval", run_eval}, {"convert", run_convert}, {"factor", run_factor}, {"sequence", run_sequence}, {"stats", run_stats},
};

_Noreturn void fail(int status, const char *what, const char *about)
{
    fflush(stdout);
    if (about)
        fprintf(stderr, "abacus: %s: %s\n", what, about);
    else
        fprintf(stderr, "abacus: %s\n", what);
    exit(status);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        fail(USAGE, "missing command", "see abacus --help");
    if (!strcmp(argv[1], "--help")) {
        fputs(help, stdout);
        return 0;
    }
    if (!strcmp(argv[1], "--version")) {
        puts("abacus 1.0");
        return 0;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 2, argv + 2);
    fail(USAGE, "unknown command", argv[1]);
}
