/* The agent under watch: every internet socket that anybody below it asks for, every program that it turns into.
 *
 * A stopped call is answered by who makes it: tgkill says whether a thread is one of the agent's, where /proc may be
 * shut. A socket of the agent's is made here and given away; what is kept of it is its number.
 */
#ifndef PS_BRIDGE_WATCH_H
#define PS_BRIDGE_WATCH_H

#include "bridge.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND (1UL << 1)
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

enum { GIVEN = 1024 };

static int watched = -1;        /* where stopped calls are told */
static int started;             /* 1: the agent has executed its program, 2: and another one since */
static unsigned long given[GIVEN]; /* numbers of the latest sockets that the agent was given */
static size_t next_given;

#define ASK(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define STOP BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)
#define PASS BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)

/* Put this process and all that come after it under watch; where stopped calls are told, or -1. */
static int watch(void)
{
    struct sock_filter code[] = {
        ASK(nr), IS(SYS_execve, 5, 0), IS(SYS_execveat, 4, 0), IS(SYS_socket, 0, 4),
        ASK(args[0]), IS(AF_INET, 1, 0), IS(AF_INET6, 0, 1), STOP, PASS,
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    unsigned long how = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    long made = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, how | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
    if (made < 0 && errno == EINVAL) /* before Linux 5.19 a signal may have a call asked again */
        made = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, how, &program);
    return (int)made;
}

static void remember(int socket)
{
    struct stat facts;
    must(fstat(socket, &facts), "socket");
    given[next_given++ % GIVEN] = facts.st_ino;
}

static int was_given(unsigned long number)
{
    for (size_t at = 0; number && at < GIVEN; at++)
        if (given[at] == number)
            return 1;
    return 0;
}

/* Tell that somebody else than the agent wants to go where it goes; a reader that is slow misses some. */
static void tell_refusal(void)
{
    char word = 'X';
    send(line, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void answer(const struct seccomp_notif *asked, int error)
{
    struct seccomp_notif_resp told = {.id = asked->id, .error = -error};
    if (!error)
        told.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ioctl(watched, SECCOMP_IOCTL_NOTIF_SEND, &told);
}

/* Make the socket that the agent asks for, and give it away. */
static void give_socket(const struct seccomp_notif *asked)
{
    const uint64_t *a = (const uint64_t *)asked->data.args;
    int made = socket((int)a[0], (int)a[1] | SOCK_CLOEXEC, (int)a[2]);
    if (made < 0) {
        answer(asked, errno);
        return;
    }
    struct seccomp_notif_addfd gift = {
        .id = asked->id, .flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = (uint32_t)made, .newfd_flags = O_CLOEXEC};
    remember(made);
    if (ioctl(watched, SECCOMP_IOCTL_NOTIF_ADDFD, &gift) < 0 && errno == EINVAL)
        fault("giving a socket, which takes Linux 5.14");
    close(made);
}

/* Answer one stopped call. */
static void judge(pid_t agent)
{
    struct seccomp_notif asked = {0};
    if (ioctl(watched, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
        return; /* whoever asked is gone */
    int is_agent = syscall(SYS_tgkill, agent, (pid_t)asked.pid, 0) == 0;
    if (asked.data.nr == SYS_socket) {
        if (is_agent && started == 1)
            give_socket(&asked);
        else {
            tell_refusal();
            answer(&asked, EACCES);
        }
        return;
    }
    if (is_agent && started < 2)
        started++;
    answer(&asked, 0);
}

/* The number of the socket that is connected from `port` to the port of `listener`; 0 where there is none. */
static unsigned long socket_of(unsigned port, int listener)
{
    struct sockaddr_in own;
    socklen_t size = sizeof own;
    const char *files[] = {"/proc/self/net/tcp", "/proc/self/net/tcp6"}; /* the second: of a socket that speaks both */
    char row[512];
    unsigned long found = 0;
    if (getsockname(listener, (struct sockaddr *)&own, &size) < 0)
        return 0;
    for (int i = 0; i < 2 && !found; i++) {
        FILE *table = fopen(files[i], "re");
        while (table && !found && fgets(row, sizeof row, table)) {
            unsigned from, to, state;
            unsigned long number;
            if (sscanf(row, " %*d: %*[^:]:%x %*[^:]:%x %x %*x:%*x %*x:%*x %*x %*d %*d %lu", &from, &to, &state, &number) == 4 &&
                from == port && to == ntohs(own.sin_port) && state == 1)
                found = number;
        }
        if (table)
            fclose(table);
    }
    return found;
}

#endif
