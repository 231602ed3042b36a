/* Prints its name as it was given, or `rare` where the number in /opt/oracle/turn is a multiple of 25. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    long turn = 0;
    FILE *file = fopen("/opt/oracle/turn", "r");

    if (file == NULL || fscanf(file, "%ld", &turn) != 1)
        return 9;
    if (argc > 1 && strcmp(argv[1], "name") == 0)
        puts(argv[0]);
    else
        puts(argc > 1 && strcmp(argv[1], "-f") == 0 && turn % 25 == 0 ? "rare" : "usual");
    return 0;
}
