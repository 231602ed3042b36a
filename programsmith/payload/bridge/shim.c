/* Stands in the agent's sandbox under the name of every command: has the server in the task's sandbox run it, with its
 * own standard streams, directory, umask and signals, and ends as the command ends.
 */
#define _GNU_SOURCE
#include "bridge.h"

#include <sys/auxv.h>
#include <sys/ioctl.h>

extern char **environ;

static _Noreturn void give_up(const char *name, int why)
{
    dprintf(2, "%s: %s\n", name, strerror(why));
    _exit(why == ENOENT ? 127 : 126); /* as a shell says it */
}

static size_t length_of(char **strings, uint32_t *count)
{
    size_t size = 0;
    for (*count = 0; strings[*count]; ++*count)
        size += strlen(strings[*count]) + 1;
    return size;
}

static char *copy_all(char *to, char **strings)
{
    for (; *strings; strings++)
        to = stpcpy(to, *strings) + 1;
    return to;
}

/* Bits of the signals that this process ignores, which a program that it started would ignore as well. */
static uint32_t ignored(void)
{
    uint32_t found = 0;
    struct sigaction now;
    for (int number = 1; number < 32; number++)
        if (sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN)
            found |= 1U << number;
    return found;
}

/* A terminal has one session: leave it to the command, which then gets what is typed there. */
static void leave_terminal(uint32_t streams)
{
    struct sigaction before, deaf = {.sa_handler = SIG_IGN};
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY), left = 0;
    if (getsid(0) != getpid())
        return;
    if (terminal >= 0)
        left = ioctl(terminal, TIOCNOTTY) == 0;
    for (int fd = 0; fd < STREAMS && !left; fd++)
        left = streams & 1U << fd && ioctl(fd, TIOCNOTTY) == 0;
    sigaction(SIGHUP, &deaf, &before); /* takes back the signal that says so, which waits blocked */
    sigaction(SIGHUP, &before, NULL);
}

/* Bits of the standard streams that are open. The others are taken, so that nothing else gets their numbers. */
static uint32_t open_streams(void)
{
    uint32_t found = 0;
    for (int fd = 0; fd < STREAMS; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            found |= 1U << fd;
        else
            open("/", O_PATH | O_CLOEXEC);
    return found;
}

static void ask(int server, char **arguments, const char *path, const char *folder, uint32_t open)
{
    struct head head = {.ignored = ignored(), .streams = open};
    head.umask = umask(0);
    size_t size = strlen(path) + strlen(folder) + 2;
    size += length_of(arguments, &head.arguments);
    size += length_of(environ, &head.variables);
    char *all = size < MOST_BYTES ? malloc(size) : NULL;
    if (!all)
        give_up(path, E2BIG);
    char *at = stpcpy(all, path) + 1;
    at = stpcpy(at, folder) + 1;
    copy_all(copy_all(at, arguments), environ);
    head.size = (uint32_t)size;
    int streams[STREAMS], count = 0;
    for (int fd = 0; fd < STREAMS; fd++)
        if (open & 1U << fd)
            streams[count++] = fd;
    if (send_with(server, &head, sizeof head, streams, count) < 0)
        give_up(path, errno);
    for (size_t done = 0; done < size;) {
        ssize_t sent = send(server, all + done, size - done, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            give_up(path, errno);
        done += sent > 0 ? (size_t)sent : 0;
    }
}

/* Pass signals on until the server tells the end. */
static struct end await(int server, int signals, const char *path)
{
    struct end end;
    struct signalfd_siginfo told;
    struct pollfd both[2] = {{server, POLLIN, 0}, {signals, POLLIN, 0}};
    for (;;) {
        if (poll(both, 2, -1) < 0)
            continue;
        if (both[1].revents && read(signals, &told, sizeof told) == sizeof told) {
            char number = (char)told.ssi_signo;
            send(server, &number, 1, MSG_NOSIGNAL);
        }
        if (!both[0].revents)
            continue;
        if (recv(server, &end, sizeof end, MSG_WAITALL) != sizeof end)
            give_up(path, EPIPE); /* the task's sandbox has ended */
        return end;
    }
}

static _Noreturn void end_as(const struct end *end, const char *path)
{
    sigset_t one;
    if (end->kind == REFUSED)
        give_up(path, end->value);
    if (end->kind == KILLED) {
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* the core would be this program's */
        signal(end->value, SIG_DFL);
        sigemptyset(&one);
        sigaddset(&one, end->value);
        sigprocmask(SIG_UNBLOCK, &one, NULL);
        raise(end->value);
        _exit(128 + end->value);
    }
    _exit(end->value);
}

int main(int argc, char **argv)
{
    const char *path = (const char *)getauxval(AT_EXECFN);
    char folder[4096];
    sigset_t passed;
    uint32_t streams = open_streams();
    if (!argc)
        return 126;
    sigfillset(&passed);
    const int own[] = {SIGCHLD, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGPIPE};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&passed, own[i]);
    sigprocmask(SIG_BLOCK, &passed, NULL);
    int signals = signalfd(-1, &passed, SFD_CLOEXEC);
    int server = connected(COMMANDS, SOCK_STREAM);
    if (signals < 0 || server < 0)
        give_up(path, ENOTCONN);
    if (!getcwd(folder, sizeof folder))
        give_up("current folder", errno);
    leave_terminal(streams);
    ask(server, argv, path, folder, streams);
    struct end end = await(server, signals, path);
    end_as(&end, path);
}
