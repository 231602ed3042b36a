/* Prints what a careless reader chokes on, in the way that way.txt names. */
#include <stdio.h>
#include <string.h>

enum { LEVELS = 200000 };

int main(void)
{
    char way[16] = "";
    FILE *file = fopen("/app/submission/way.txt", "r");
    if (!file || !fgets(way, sizeof way, file))
        return 1;
    for (int turn = 0; !strcmp(way, "garbage") && turn < 4096; turn++)
        putchar(turn & 255);
    for (int turn = 0; !strcmp(way, "nests") && turn < 2 * LEVELS; turn++)
        putchar(turn < LEVELS ? '[' : ']');
    return 0;
}
