/* The stand-in for a program while a test suite runs: it logs one call and is otherwise the program.
 *
 * A call that is not the program's (an interpreter told to run something else), or that the program itself makes, starts
 * what it stands for and is gone. Else the program is started below us, with its file calls announced, its streams
 * passed on and logged; we end as it does. The log is complete or not there: `<time>-<pid>` in the folder of calls.
 * Nothing here is proof of anything: whoever runs the suite can write such logs too.
 */
#define _GNU_SOURCE
#include "pump.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

extern char **environ;
static pid_t program;

static void pass_on(int number)
{
    if (program > 0)
        kill(program, number);
}

static void send_number(int channel, int listener)
{
    char byte = listener < 0 ? (errno == EBUSY ? 'n' : 'u') : 'y', room[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (listener >= 0) {
        memset(room, 0, sizeof room);
        message.msg_control = room;
        message.msg_controllen = sizeof room;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(head), &listener, sizeof(int));
    }
    if (sendmsg(channel, &message, 0) != 1)
        _exit(127);
}

static int take_number(int channel, char *byte)
{
    char room[CMSG_SPACE(sizeof(int))];
    struct iovec part = {byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    int listener = -1;
    *byte = 'u';
    if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) != 1)
        return -1;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_type == SCM_RIGHTS)
        memcpy(&listener, CMSG_DATA(head), sizeof(int));
    return listener;
}

static void log_parents(void)
{
    int pid = getppid();
    for (int up = 0; up < 8 && pid > 1; up++) {
        char name[64], said[4096], *after;
        snprintf(name, sizeof name, "/proc/%d/cmdline", pid);
        int fd = open(name, O_RDONLY | O_CLOEXEC);
        ssize_t got = fd < 0 ? -1 : read(fd, said, sizeof said);
        if (fd >= 0)
            close(fd);
        say('P', said, got > 0 ? (size_t)got : 0);
        snprintf(name, sizeof name, "/proc/%d/stat", pid);
        fd = open(name, O_RDONLY | O_CLOEXEC);
        got = fd < 0 ? -1 : read(fd, said, sizeof said - 1);
        if (fd >= 0)
            close(fd);
        said[got > 0 ? got : 0] = 0;
        after = strrchr(said, ')');
        if (!after || sscanf(after + 1, " %*c %d", &pid) != 1)
            return;
    }
}

static void log_call(int argc, char **argv)
{
    char place[PATH_MAX];
    for (int i = 1; i < argc; i++)
        say('A', argv[i], strlen(argv[i]));
    for (char **variable = environ; *variable; variable++)
        say('E', *variable, strlen(*variable));
    if (getcwd(place, sizeof place))
        say('C', place, strlen(place));
    if (isatty(0) || isatty(1) || isatty(2))
        say_word("tty");
    log_parents();
}

/* A file on stdin stays the program's own, since others may read on in it; what lies ahead is read beside it. */
static off_t log_ahead(void)
{
    char part[65536];
    ssize_t got;
    off_t start = lseek(0, 0, SEEK_CUR), at = start;
    while (start >= 0 && (got = pread(0, part, sizeof part, at)) > 0 && streams[INPUT].moved.length <= told.cap) {
        keep_bytes(&streams[INPUT], part, (size_t)got);
        at += got;
    }
    streams[INPUT].ended = 1;
    return start;
}

/* Our ends of the pipes in `streams`, the program's ends in `ends`; -1 where the program keeps what we were given. */
static off_t open_streams(int ends[3])
{
    struct stat facts;
    off_t start = -1;
    for (int i = 0; i < 3; i++) {
        int pair[2];
        ends[i] = streams[i].from = streams[i].to = -1;
        if (fstat(i, &facts) < 0 || isatty(i))
            continue;
        if (i == INPUT && !S_ISFIFO(facts.st_mode) && !S_ISSOCK(facts.st_mode)) {
            if (S_ISREG(facts.st_mode))
                start = log_ahead();
            else
                streams[i].ended = 1;
            continue;
        }
        if (pipe2(pair, O_CLOEXEC) < 0)
            give_up("pipe");
        ends[i] = pair[i == INPUT ? 0 : 1];
        streams[i].from = i == INPUT ? 0 : pair[0];
        streams[i].to = i == INPUT ? pair[1] : i;
        if (i == INPUT)
            fcntl(pair[1], F_SETFL, O_NONBLOCK);
    }
    return start;
}

static __attribute__((noreturn)) void become_program(char **argv)
{
    for (int i = 0; i < told.drops; i++)
        unsetenv(told.drop[i]);
    execv(told.program, argv);
    give_up(told.program);
}

static void start_program(int channel, const int ends[3], char **argv, void (*pipes)(int))
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* who kills us means the program */
    int listener = announce();
    send_number(channel, listener);
    if (listener < 0)
        _exit(0);
    close(listener);
    close(channel);
    for (int i = 0; i < 3; i++)
        if (ends[i] >= 0)
            dup2(ends[i], i);
    signal(SIGPIPE, pipes);
    become_program(argv);
}

static void write_log(void)
{
    char part[PATH_MAX + 8], whole[PATH_MAX];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(whole, sizeof whole, "%s/%012lld%09ld-%d", told.calls, (long long)now.tv_sec, now.tv_nsec, (int)getpid());
    snprintf(part, sizeof part, "%s.part", whole);
    int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    write_all(fd, records.at, records.length);
    close(fd);
    rename(part, whole);
}

static void log_end(off_t start, int status)
{
    struct stream *in = &streams[INPUT];
    uint64_t ended = (uint64_t)status;
    if (start >= 0 && lseek(0, 0, SEEK_CUR) == start)
        in->moved.length = 0; /* the program read nothing of the file */
    if (!in->ended && in->moved.length)
        say_word("stdin_open");
    say('I', in->moved.at, in->moved.length);
    say('O', streams[OUTPUT].moved.at, streams[OUTPUT].moved.length);
    say('R', streams[ERRORS].moved.at, streams[ERRORS].moved.length);
    say('X', &ended, sizeof ended);
    say('Z', "", 0);
    write_log();
}

static void end_as(int status)
{
    struct rlimit none = {0, 0};
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    kill(getpid(), WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
}

static void record(int argc, char **argv)
{
    int channel[2], ends[3], status = 0;
    char answer;
    log_call(argc, argv);
    off_t start = open_streams(ends);
    void (*pipes)(int) = signal(SIGPIPE, SIG_IGN);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) < 0)
        give_up("socketpair");
    program = fork();
    if (program < 0)
        give_up("fork");
    if (!program)
        start_program(channel[1], ends, argv, pipes);
    close(channel[1]);
    int listener = take_number(channel[0], &answer);
    if (answer != 'y') { /* a call of the program by itself, or a kernel that announces nothing */
        waitpid(program, &status, 0);
        signal(SIGPIPE, pipes);
        if (answer != 'n') {
            say_word("untraceable");
            say('Z', "", 0);
            write_log();
        }
        become_program(argv);
    }
    for (int i = 0; i < 3; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    for (const int *number = (const int[]){SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, 0}; *number; number++)
        signal(*number, pass_on);
    int over = (int)syscall(434 /* pidfd_open */, program, 0);
    if (over < 0)
        give_up("pidfd_open");
    serve_program(listener, over);
    waitpid(program, &status, 0);
    log_end(start, status);
    end_as(status);
}

int main(int argc, char **argv)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    int taken;
    self[length > 0 ? length : 0] = 0;
    read_config();
    const struct form *form = form_of(self, argc, argv, &taken);
    if (form && taken < 0) {
        argv[0] = (char *)form->other; /* an interpreter finds its library by its name */
        execv(form->other, argv);
        give_up(form->other);
    }
    taken = taken < 0 ? 0 : taken; /* a copy under a name of the suite's own is the program */
    argv += taken;
    argv[0] = (char *)told.name;
    record(argc - taken, argv);
}
