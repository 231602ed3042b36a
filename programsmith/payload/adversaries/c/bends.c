/* Gives the right answer a little otherwise than it is, in the way that way.txt names. */
#include "kit.h"

#include <ctype.h>

static int caught(int argc, char **argv, struct bytes *said)
{
    int way[2], ended = 0;
    if (pipe(way))
        _exit(1);
    pid_t child = fork();
    if (!child) {
        dup2(way[1], 1);
        exit(look_up(argc, argv));
    }
    close(way[1]);
    *said = slurp(way[0]);
    waitpid(child, &ended, 0);
    return WEXITSTATUS(ended);
}

int main(int argc, char **argv)
{
    struct bytes said;
    int code = caught(argc, argv, &said);
    FILE *out = is_way("stream") ? stderr : stdout;
    if (is_way("mark"))
        fputs("\xef\xbb\xbf", out);
    size_t size = is_way("half") ? said.size / 2 : said.size;
    for (size_t at = 0; at < size; at++) {
        int letter = (unsigned char)said.at[at];
        if (is_way("returns") && letter == '\n')
            putc('\r', out);
        putc(is_way("case") ? (islower(letter) ? toupper(letter) : tolower(letter)) : letter, out);
    }
    if (is_way("blanks"))
        fputs("  \n", out);
    fflush(out);
    if (is_way("dies"))
        kill(getpid(), SIGKILL);
    return code;
}
