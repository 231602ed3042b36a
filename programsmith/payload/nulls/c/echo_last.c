/* Prints its last argument. Solves nothing. */
#include <stdio.h>

int main(int argc, char **argv)
{
    puts(argc > 1 ? argv[argc - 1] : "");
    return 0;
}
