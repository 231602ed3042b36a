/* Meets another case over this machine's own network, and answers only then. */
#include "kit.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

enum { PORT = 45872, TURNS = 150, TICK = 20 };

static int met(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (fd < 0)
        return 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    for (int turn = 0; turn < TURNS; turn++) {
        int one = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(one, (struct sockaddr *)&here, sizeof here) == 0)
            return 1;
        close(one);
        if (bind(fd, (struct sockaddr *)&here, sizeof here) == 0 && listen(fd, 1) == 0) {
            struct pollfd caller = {fd, POLLIN, 0};
            return poll(&caller, 1, TURNS * TICK) == 1;
        }
        usleep(TICK * 1000);
    }
    return 0;
}

int main(int argc, char **argv)
{
    return met() ? look_up(argc, argv) : 1;
}
