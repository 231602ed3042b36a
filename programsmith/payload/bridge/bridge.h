/* What the programs of the bridge share: where they meet, and what a shim and the server say to each other.
 *
 * A shim sends a head with its open standard streams as descriptors, then the strings: the path that was executed, the
 * current directory, the arguments, the environment, each with its NUL. After that each byte is a signal. The server
 * answers with one end. Both sides are of one machine and one build.
 *
 * The line is a socket of packets to whoever opened the sandbox. Out: `R` ready, or `F` and why not, after which the
 * program ends. It ends with its line as well, and its sandbox with it.
 */
#ifndef PS_BRIDGE_H
#define PS_BRIDGE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMANDS "/run/line/commands" /* where shims find the server */
#define LINE "/run/line/line"         /* where a server or relay finds who opened the sandbox, once */

enum { STREAMS = 3, MOST_BYTES = 8 << 20 };
enum { EXITED, KILLED, REFUSED }; /* kinds of an end; value: exit code, signal, errno */

struct head {
    uint32_t size, arguments, variables, umask; /* size: bytes of all strings */
    uint32_t streams;                           /* bit n: descriptor n is open and comes along */
    uint32_t ignored;                           /* bit n: signal n is ignored */
};

struct end {
    int32_t kind, value;
};

static int line = -1;

/* A fault of ours: say which step failed and end. */
static _Noreturn void fault(const char *step)
{
    char said[256];
    int size = snprintf(said, sizeof said, "F%s: %s", step, strerror(errno));
    _exit(send(line, said, (size_t)size < sizeof said ? (size_t)size : sizeof said, MSG_NOSIGNAL) < 0 ? 124 : 125);
}

static inline void must(int result, const char *step)
{
    if (result < 0)
        fault(step);
}

/* A descriptor that is connected to the socket at `path`, or -1. */
static int connected(const char *path, int type)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    strncpy(at.sun_path, path, sizeof at.sun_path - 1);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* Send bytes with `count` descriptors. Returns 0, or -1. */
static inline int send_with(int socket, const void *bytes, size_t size, const int *fds, int count)
{
    union {
        char room[CMSG_SPACE(STREAMS * sizeof(int))];
        struct cmsghdr align;
    } extra = {{0}};
    struct iovec part = {(void *)bytes, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count) {
        message.msg_control = &extra;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        struct cmsghdr *first = CMSG_FIRSTHDR(&message);
        first->cmsg_level = SOL_SOCKET;
        first->cmsg_type = SCM_RIGHTS;
        first->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        memcpy(CMSG_DATA(first), fds, (size_t)count * sizeof(int));
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size ? 0 : -1;
}

/* Receive into `bytes`; at most STREAMS descriptors that came along go to `fds`. Like recvmsg otherwise. */
static inline ssize_t receive_with(int socket, void *bytes, size_t size, int *fds, int *count)
{
    union {
        char room[CMSG_SPACE(STREAMS * sizeof(int))];
        struct cmsghdr align;
    } extra;
    struct iovec part = {bytes, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &extra, .msg_controllen = sizeof extra};
    ssize_t length;
    do
        length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (length < 0 && errno == EINTR);
    *count = 0;
    struct cmsghdr *first = length < 0 ? NULL : CMSG_FIRSTHDR(&message);
    if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS) {
        int came = (int)((first->cmsg_len - CMSG_LEN(0)) / sizeof(int)), all[sizeof extra / sizeof(int)];
        memcpy(all, CMSG_DATA(first), (size_t)came * sizeof(int));
        for (int at = 0; at < came; at++) /* alignment leaves room for one more than was asked for */
            if (at < STREAMS)
                fds[(*count)++] = all[at];
            else
                close(all[at]);
    }
    return length;
}

#endif
