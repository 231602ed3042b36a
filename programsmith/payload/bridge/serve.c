/* Runs in the task's sandbox what shims in the agent's sandbox are asked for. Arguments: `PATTERN...`, names of
 * variables that no command gets; or `names FOLDER...`, and then it only tells what commands there are: for each folder
 * its resolved path and what can be executed in it, each with its NUL, and one NUL more.
 *
 * The socket that shims come to is handed over on the line. A command has a session and a group of its own, so signals
 * reach all of it, and whatever it leaves in the background stays. What a shim passes as a stream may be neither a
 * directory nor an internet socket: through those a command would reach what the agent's sandbox has.
 */
#define _GNU_SOURCE
#include "bridge.h"

#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

struct session {
    int socket, streams[STREAMS], count;
    struct head head;
    char *strings;
    size_t taken;
    pid_t command; /* 0 before it runs */
};

static struct session *session;
static size_t sessions, room;
static char **patterns;

static void close_streams(struct session *s)
{
    while (s->count)
        close(s->streams[--s->count]);
}

static void forget(size_t at)
{
    close_streams(&session[at]);
    close(session[at].socket);
    free(session[at].strings);
    session[at] = session[--sessions];
}

static void tell_end(size_t at, int kind, int value)
{
    struct end end = {kind, value};
    send_with(session[at].socket, &end, sizeof end, NULL, 0);
    forget(at);
}

static int may_pass(int stream)
{
    struct stat facts;
    int family = AF_UNIX;
    socklen_t size = sizeof family;
    if (fstat(stream, &facts) < 0 || S_ISDIR(facts.st_mode))
        return 0;
    return !S_ISSOCK(facts.st_mode) || (getsockopt(stream, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0 && family == AF_UNIX);
}

static int is_withheld(const char *variable)
{
    char name[256];
    size_t length = strcspn(variable, "=");
    if (length >= sizeof name)
        return 1;
    memcpy(name, variable, length);
    name[length] = 0;
    for (char **pattern = patterns; *pattern; pattern++)
        if (fnmatch(*pattern, name, 0) == 0)
            return 1;
    return 0;
}

/* Cut the strings into arguments and variables; 0 where they are not what the head says. */
static int cut(struct session *s, char **path, char **folder, char **arguments, char **variables)
{
    char *at = s->strings, *stop = at + s->head.size, **next = arguments;
    uint32_t wanted = s->head.arguments + s->head.variables + 2, found = 0, kept = 0;
    for (; at < stop && found < wanted; at += strlen(at) + 1, found++) {
        if (found == 0)
            *path = at;
        else if (found == 1)
            *folder = at;
        else if (found < s->head.arguments + 2)
            *next++ = at;
        else if (!is_withheld(at))
            variables[kept++] = at;
    }
    *next = variables[kept] = NULL;
    return found == wanted && at == stop;
}

/* The child, which borrows its parent's memory until it executes. */
static _Noreturn void run(const struct session *s, const char *path, const char *folder, char **arguments,
                          char **variables, volatile int *why)
{
    sigset_t none;
    sigemptyset(&none);
    setsid();
    for (int fd = 0, given = 0; fd < STREAMS; fd++)
        if (s->head.streams & 1U << fd)
            dup2(s->streams[given++], fd);
        else
            close(fd);
    for (int fd = 0; fd < STREAMS; fd++)
        if (isatty(fd) && ioctl(fd, TIOCSCTTY, 0) == 0)
            break;
    for (int number = 1; number < 32; number++)
        signal(number, s->head.ignored & 1U << number ? SIG_IGN : SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    umask((mode_t)s->head.umask & 0777);
    if (chdir(folder) == 0)
        execve(path, arguments, variables);
    *why = errno;
    _exit(127);
}

static void start(size_t at)
{
    struct session *s = &session[at];
    char *path = NULL, *folder = NULL;
    char **arguments = calloc(s->head.arguments + 1, sizeof *arguments);
    char **variables = calloc(s->head.variables + 1, sizeof *variables);
    volatile int why = 0;
    if (!arguments || !variables)
        why = ENOMEM;
    else if (!cut(s, &path, &folder, arguments, variables))
        why = EBADMSG;
    for (int i = 0; !why && i < s->count; i++)
        why = may_pass(s->streams[i]) ? 0 : EACCES;
    pid_t command = why ? -1 : vfork();
    if (!command)
        run(s, path, folder, arguments, variables, &why);
    if (command < 0 && !why)
        why = errno;
    free(arguments);
    free(variables);
    free(s->strings);
    s->strings = NULL;
    close_streams(s);
    if (!why) {
        s->command = command;
        return;
    }
    if (command > 0)
        waitpid(command, NULL, 0);
    tell_end(at, REFUSED, why);
}

/* Take what a shim sends: its head, its strings, then signals. 0 where the session is over. */
static int hear(size_t at)
{
    struct session *s = &session[at];
    char number;
    if (s->command) {
        if (recv(s->socket, &number, 1, MSG_DONTWAIT) == 1)
            return kill(-s->command, number), 1;
        if (errno == EAGAIN)
            return 1;
        kill(-s->command, SIGKILL); /* the shim was killed */
        return 0;
    }
    if (!s->strings) {
        if (receive_with(s->socket, &s->head, sizeof s->head, s->streams, &s->count) != sizeof s->head)
            return 0;
        int streams = !!(s->head.streams & 1) + !!(s->head.streams & 2) + !!(s->head.streams & 4);
        uint64_t strings = (uint64_t)s->head.arguments + s->head.variables + 2;
        if (s->head.size > MOST_BYTES || strings > s->head.size || streams != s->count)
            return 0;
        s->strings = calloc(s->head.size + 1, 1);
        return s->strings != NULL;
    }
    ssize_t part = recv(s->socket, s->strings + s->taken, s->head.size - s->taken, MSG_DONTWAIT);
    if (part <= 0)
        return part < 0 && errno == EAGAIN;
    s->taken += (size_t)part;
    if (s->taken == s->head.size)
        start(at);
    return 1;
}

static void admit(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (sessions == room) {
        room = room * 2 + 16;
        session = realloc(session, room * sizeof *session);
        if (!session)
            fault("memory");
    }
    session[sessions++] = (struct session){.socket = fd};
}

static void reap(void)
{
    int ended;
    for (pid_t pid; (pid = waitpid(-1, &ended, WNOHANG)) > 0;)
        for (size_t at = 0; at < sessions; at++)
            if (session[at].command == pid) {
                int killed = WIFSIGNALED(ended);
                tell_end(at, killed ? KILLED : EXITED, killed ? WTERMSIG(ended) : WEXITSTATUS(ended));
                break;
            }
}

/* How many commands this process has descriptors for at a time; more wait. */
static size_t most_sessions(void)
{
    static size_t most;
    struct rlimit files;
    if (!most)
        most = getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur > 64 ? (files.rlim_cur - 32) / (STREAMS + 1) : 8;
    return most;
}

static void serve(int listener, int signals)
{
    static struct pollfd *all;
    static size_t most;
    struct signalfd_siginfo told;
    for (;;) {
        if (most < room + 3)
            all = realloc(all, (most = room + 3) * sizeof *all);
        if (!all)
            fault("memory");
        all[0] = (struct pollfd){line, POLLIN, 0};
        all[1] = (struct pollfd){listener, sessions < most_sessions() ? POLLIN : 0, 0};
        all[2] = (struct pollfd){signals, POLLIN, 0};
        size_t known = sessions;
        for (size_t at = 0; at < known; at++)
            all[at + 3] = (struct pollfd){session[at].socket, POLLIN, 0};
        if (poll(all, known + 3, -1) < 0)
            continue;
        if (all[0].revents)
            return; /* whoever opened the sandbox is done with it, or gone */
        for (size_t at = known; at-- > 0;) /* from the end: whoever is forgotten is replaced by a later one */
            if (all[at + 3].revents && session[at].socket == all[at + 3].fd) {
                size_t before = sessions;
                if (!hear(at) && before == sessions)
                    forget(at);
            }
        if (all[2].revents && read(signals, &told, sizeof told) == sizeof told)
            reap();
        if (all[1].revents)
            admit(listener);
    }
}

static int tell_names(char **folders)
{
    char path[PATH_MAX];
    for (; *folders; folders++) {
        DIR *dir = realpath(*folders, path) ? opendir(path) : NULL;
        if (!dir)
            continue;
        fwrite(path, strlen(path) + 1, 1, stdout);
        for (struct dirent *item; (item = readdir(dir));) {
            struct stat facts;
            if (fstatat(dirfd(dir), item->d_name, &facts, 0) == 0 && S_ISREG(facts.st_mode) && facts.st_mode & 0111)
                fwrite(item->d_name, strlen(item->d_name) + 1, 1, stdout);
        }
        putchar(0);
        closedir(dir);
    }
    return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
    sigset_t children;
    int passed[STREAMS], count;
    char word;
    if (argc > 1 && !strcmp(argv[1], "names"))
        return tell_names(argv + 2);
    patterns = argv + 1;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    line = connected(LINE, SOCK_SEQPACKET);
    must(line, "line");
    if (receive_with(line, &word, 1, passed, &count) != 1 || count != 1)
        fault("listener");
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    signal(SIGPIPE, SIG_IGN);
    int signals = signalfd(-1, &children, SFD_CLOEXEC);
    must(signals, "signals");
    must((int)write(line, "R", 1), "line");
    serve(passed[0], signals);
    return 0;
}
