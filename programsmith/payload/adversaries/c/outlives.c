/* Leaves a process behind, in the way that way.txt names; its command line holds the host's word for it. */
#include "kit.h"

#include <sys/time.h>

static void linger(int number)
{
    char *words[] = {"outlives", word("token"), NULL};
    (void)number;
    execv("/app/submission/executable", words);
    _exit(1);
}

int main(int argc, char **argv)
{
    struct itimerval soon = {{0, 0}, {0, 1000}};
    if (argc == 2 && !strncmp(argv[1], "adversary-", 10)) {
        sleep(4);
        return 0;
    }
    if (fork()) {
        usleep(100000);
        return 0;
    }
    setsid();
    for (int stream = 0; stream < 3; stream++)
        close(stream);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    if (!is_way("timer")) {
        if (!fork())
            linger(0);
        return 0;
    }
    signal(SIGALRM, linger);
    setitimer(ITIMER_REAL, &soon, NULL);
    for (;;)
        pause();
}
