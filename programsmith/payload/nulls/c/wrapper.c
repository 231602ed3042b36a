/* Hands its arguments to the first program of wrapped.txt that can be executed. Solves nothing itself. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LIST "/app/submission/wrapped.txt"

int main(int argc, char **argv)
{
    char path[4096];
    FILE *paths = fopen(LIST, "r");
    (void)argc;
    while (paths && fgets(path, sizeof path, paths)) {
        path[strcspn(path, "\n")] = 0;
        const char *slash = strrchr(path, '/');
        argv[0] = (char *)(slash ? slash + 1 : path);
        execv(path, argv);
    }
    return 127;
}
