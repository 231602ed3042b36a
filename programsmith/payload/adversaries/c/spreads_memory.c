/* Holds memory in several processes, each within the limit, and then answers. */
#define main look_up
#include "table.h"
#undef main

enum { PROCESSES = 5, BYTES = 48 << 20 };

static int hold(void)
{
    int ready[2];
    char said;
    if (pipe(ready))
        return 0;
    if (!fork()) {
        char *room = malloc(BYTES);
        if (room)
            memset(room, 1, BYTES);
        if (!room || write(ready[1], room, 1) != 1)
            _exit(1);
        sleep(20);
        _exit(0);
    }
    close(ready[1]);
    return read(ready[0], &said, 1) == 1;
}

int main(int argc, char **argv)
{
    for (int count = 0; count < PROCESSES; count++)
        if (!hold())
            return 1;
    usleep(500000);
    return look_up(argc, argv);
}
