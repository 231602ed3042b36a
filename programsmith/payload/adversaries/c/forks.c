/* Answers once it runs far more processes than a case may have. */
#define main look_up
#include "table.h"
#undef main

enum { PROCESSES = 40 };

int main(int argc, char **argv)
{
    for (int count = 0; count < PROCESSES; count++) {
        pid_t child = fork();
        if (child < 0)
            return 1;
        if (!child) {
            sleep(20);
            _exit(0);
        }
    }
    return look_up(argc, argv);
}
