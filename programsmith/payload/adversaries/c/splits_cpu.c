/* Burns CPU in several processes, each within the limit, and then answers. */
#define main look_up
#include "table.h"
#undef main

#include <sys/wait.h>
#include <time.h>

enum { PROCESSES = 6 };

int main(int argc, char **argv)
{
    for (int count = 0; count < PROCESSES; count++) {
        pid_t child = fork();
        if (!child) {
            while (clock() < CLOCKS_PER_SEC * 12 / 100)
                ;
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return look_up(argc, argv);
}
