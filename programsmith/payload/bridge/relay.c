/* Runs beside the agent, as its parent: a port of the loopback that leads to the model gateway, for one process alone.
 * Arguments: `PORT PROGRAM ARGUMENT...`.
 *
 * Which process asks is no matter of names, labels or /proc: the kernel stops the agent, and whatever it starts, before
 * each call that makes an internet socket or executes a program (seccomp notification, which nobody can take off). The
 * relay makes the socket and gives it to the one process that it started itself, while that runs the one program that
 * it was started with; every other process is told EACCES. So a connection to the port is let in where its socket is
 * one that was given, and sockets are given to be closed on execution. The way on is handed over on the line, one
 * descriptor for each connection: nothing in this sandbox has a path that leads to the gateway.
 */
#define _GNU_SOURCE
#include "bridge.h"
#include "watch.h"

#include <arpa/inet.h>
#include <netinet/in.h>

enum { MOST_PAIRS = 128, BUFFER = 1 << 16, PARTS = 4, LEFT = 143 }; /* LEFT: exit code where the line ends first */

struct way { /* of one direction: what was read from one side and not yet written to the other */
    size_t begin, end;
    int closed; /* 1: the source has ended; 2: that was passed on */
    char buffer[BUFFER];
};

struct pair {
    int side[2]; /* agent, gateway */
    struct way way[2];
};

static struct pair *pair[MOST_PAIRS];
static int pairs;

static void drop(int at)
{
    close(pair[at]->side[0]);
    close(pair[at]->side[1]);
    free(pair[at]);
    pair[at] = pair[--pairs];
}

/* Move bytes one way as far as both sides go along. Returns 0 where the pair is broken. */
static int move(struct way *w, int from, int to)
{
    if (w->begin == w->end && !w->closed) {
        ssize_t part = recv(from, w->buffer, sizeof w->buffer, MSG_DONTWAIT);
        if (part < 0 && errno != EAGAIN && errno != EINTR)
            return 0;
        w->begin = 0;
        w->end = part > 0 ? (size_t)part : 0;
        w->closed = part == 0;
    }
    if (w->begin < w->end) {
        ssize_t part = send(to, w->buffer + w->begin, w->end - w->begin, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (part < 0 && errno != EAGAIN && errno != EINTR)
            return 0;
        w->begin += part > 0 ? (size_t)part : 0;
    }
    if (w->begin == w->end && w->closed == 1) {
        shutdown(to, SHUT_WR);
        w->closed = 2;
    }
    return 1;
}

static short wanted(const struct pair *p, int side)
{
    const struct way *out = &p->way[side], *in = &p->way[!side];
    return (short)((out->begin == out->end && !out->closed ? POLLIN : 0) | (in->begin < in->end ? POLLOUT : 0));
}

/* A side of which nothing is wanted is left out: one that has hung up would be told of again and again. */
static struct pollfd interest(const struct pair *p, int side)
{
    short events = wanted(p, side);
    return (struct pollfd){events ? p->side[side] : -1, events, 0};
}

static void refuse(int agent, const char *answer)
{
    send(agent, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(agent, SHUT_WR);
    close(agent);
}

/* A descriptor that leads to the gateway, from the other end of the line; -1 where it has none. */
static int way_on(void)
{
    char word = 'C';
    int passed[STREAMS], count;
    if (send(line, &word, 1, MSG_NOSIGNAL) != 1 || receive_with(line, &word, 1, passed, &count) != 1)
        _exit(LEFT); /* whoever opened the sandbox is gone */
    return count == 1 ? passed[0] : -1;
}

static void admit(int listener)
{
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    int agent = accept4(listener, (struct sockaddr *)&from, &size, SOCK_CLOEXEC);
    if (agent < 0)
        return;
    if (!was_given(socket_of(ntohs(from.sin_port), listener))) {
        tell_refusal();
        refuse(agent, "HTTP/1.1 403 Forbidden\r\ncontent-length: 15\r\nconnection: close\r\n\r\nnot the agent.\n");
        return;
    }
    int on = pairs < MOST_PAIRS ? way_on() : -1;
    struct pair *made = on < 0 ? NULL : calloc(1, sizeof *made);
    if (!made) {
        if (on >= 0)
            close(on);
        refuse(agent, "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 11\r\nconnection: close\r\n\r\nno gateway\n");
        return;
    }
    made->side[0] = agent;
    made->side[1] = on;
    pair[pairs++] = made;
}

static void end_as(int ended)
{
    if (WIFEXITED(ended))
        _exit(WEXITSTATUS(ended));
    signal(WTERMSIG(ended), SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    raise(WTERMSIG(ended));
    _exit(128 + WTERMSIG(ended));
}

static void move_all(int known, const struct pollfd *all)
{
    for (int at = known; at-- > 0;) { /* from the end: whoever is dropped is replaced by a later one */
        struct pair *p = pair[at];
        if (!(all[2 * at].revents | all[2 * at + 1].revents))
            continue;
        int whole = move(&p->way[0], p->side[0], p->side[1]) && move(&p->way[1], p->side[1], p->side[0]);
        int broken = (all[2 * at].revents | all[2 * at + 1].revents) & (POLLERR | POLLNVAL);
        if (!whole || broken || (p->way[0].closed == 2 && p->way[1].closed == 2) || all[2 * at].revents == POLLHUP)
            drop(at);
    }
}

static void relay(pid_t agent, int listener, int signals)
{
    static struct pollfd all[2 * MOST_PAIRS + PARTS];
    struct signalfd_siginfo told;
    for (;;) {
        int known = pairs, ended;
        for (int at = 0; at < known; at++)
            for (int side = 0; side < 2; side++)
                all[2 * at + side] = interest(pair[at], side);
        struct pollfd *own = all + 2 * known;
        own[0] = (struct pollfd){listener, POLLIN, 0};
        own[1] = (struct pollfd){signals, POLLIN, 0};
        own[2] = (struct pollfd){watched, POLLIN, 0};
        own[3] = (struct pollfd){line, POLLIN, 0};
        if (poll(all, (nfds_t)(2 * known + PARTS), -1) < 0)
            continue;
        if (own[3].revents)
            _exit(LEFT); /* nothing is said on the line unasked: it is closed */
        if (own[2].revents)
            judge(agent);
        if (own[0].revents)
            admit(listener);
        move_all(known, all);
        if (own[1].revents && read(signals, &told, sizeof told) == sizeof told)
            for (pid_t pid; (pid = waitpid(-1, &ended, WNOHANG)) > 0;)
                if (pid == agent)
                    end_as(ended);
    }
}

static int listening(uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    must(fd, "port");
    must(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one), "port");
    must(bind(fd, (struct sockaddr *)&at, sizeof at), "port");
    must(listen(fd, MOST_PAIRS), "port");
    return fd;
}

/* Start the agent under watch: its first program is what it is from then on. */
static pid_t start(char **words)
{
    int between[2];
    must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, between), "watch");
    pid_t agent = fork();
    must(agent, "fork");
    if (!agent) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGPIPE, SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        int own = watch();
        char word = own < 0 ? 'F' : 'W';
        send_with(between[1], &word, 1, &own, own < 0 ? 0 : 1);
        if (own < 0)
            _exit(125);
        close(own);
        execv(words[0], words);
        dprintf(2, "%s: %s\n", words[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    int passed[STREAMS], count;
    char word;
    close(between[1]);
    if (receive_with(between[0], &word, 1, passed, &count) != 1 || count != 1) {
        errno = ENOSYS;
        fault("seccomp notification, which takes Linux 5.14");
    }
    close(between[0]);
    watched = passed[0];
    return agent;
}

int main(int argc, char **argv)
{
    sigset_t children;
    char word;
    if (argc < 3)
        return 125;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    line = connected(LINE, SOCK_SEQPACKET);
    must(line, "line");
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    int signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    must(signals, "signals");
    int listener = listening((uint16_t)atoi(argv[1]));
    must((int)send(line, "R", 1, MSG_NOSIGNAL), "line");
    if (recv(line, &word, 1, 0) != 1) /* the word that the line leads here and to nobody else */
        return 0;
    relay(start(argv + 2), listener, signals);
}
