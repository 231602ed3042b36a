/* Uses so many milliseconds of processor time and says so. Argument: the milliseconds.
 *
 * It has one thread and reads that thread's clock: under a limit on processor time, which only isolated runs have, the
 * kernel moves the clock of the process from tick to tick, and the program would use up to a tick more than it says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    long wanted = argc > 1 ? atol(argv[1]) : 0;
    struct timespec used;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < wanted);
    printf("%ld\n", wanted);
    return 0;
}
