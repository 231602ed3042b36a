/* The launch server of one slot. Arguments: `CONTROL_FD SETUP_FD`.
 *
 * It makes once what launches of a slot share (user namespace, empty network, control group, skeleton of the root) and
 * then, for each launch asked for on the control socket, clones the first process of a fresh sandbox, which completes
 * its root, lays the files, starts the program, watches it and reports on the status pipe (wire.h). One exec per launch
 * is left: the program's own.
 *
 * Control messages in, with descriptors of stdin, stdout, stderr, status and request: what the root must hold, as text
 * that ends in NUL: `d` or `f` and the path of a directory or file that a mount needs; `r` or `w`, a host path, a
 * second text with the path where it is shown read-only or writable; `i` and whatever tells one such list from another.
 * Without descriptors: kill what runs. Out: `R` ready, `D` every process of the launch is dead, or a record `F`
 * (wire.h), after which the server ends. It also ends with its socket, and its launch with it.
 *
 * Where namespaces are refused it makes none and is each launch's first process itself: it stays root, the program becomes
 * a user of the slot's own, and that user's processes are killed and its files removed afterwards.
 */
#define _GNU_SOURCE
#include "../init/program.h"
#include "root.h"
#include "spaces.h"

#include <poll.h>

enum { STREAMS = 3, STATUS = 3, REQUEST = 4, PASSED = 5, MOST_ASKED = 1 << 16 };

struct server {
    struct setup setup;
    struct mounts mounts;
    int control, user;      /* user: the user namespace of launches, -1 where the server is in it */
    int proc, children;     /* without namespaces: /proc; readable when a child has changed */
    char asked[MOST_ASKED]; /* what the skeleton holds besides its fixed part */
    size_t size;
    struct added added;
};

/* Complete the fresh sandbox and become the user that exists in it. */
static void enter(const struct server *server, const struct request *r)
{
    must(sethostname(r->hostname.at, r->hostname.length), "host name");
    must(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), "dumpable"); /* its own entries in /proc are needed once more */
    complete_root(&server->setup, r);
    become_user(&server->setup, server->user);
    must(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), "dumpable"); /* becoming another ends that */
    die_along();
    guard_init();
    lay_files(r);
    give_up();
}

static _Noreturn void launch(const struct server *server, int passed[PASSED])
{
    status_fd = passed[STATUS];
    close(server->control); /* its end must not wait for this process */
    for (int i = 0; i < STREAMS; i++)
        must(dup2(passed[i], i), "standard streams");
    for (int i = 0; i < STREAMS; i++)
        close(passed[i]);
    struct request r = take_request(passed[REQUEST]);
    enter(server, &r);
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(proc, "/proc");
    serve(&r, proc);
    _exit(0);
}

/* Take one message; descriptors that came with it, or -1. Returns its size, 0 where the other side is gone. */
static size_t hear(int control, char *room, size_t size, int passed[PASSED])
{
    union {
        char room[CMSG_SPACE(PASSED * sizeof(int))];
        struct cmsghdr align;
    } extra;
    struct iovec part = {room, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &extra, .msg_controllen = sizeof extra};
    ssize_t length = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    if (length < 0 && errno == EINTR)
        return hear(control, room, size, passed);
    must((int)length, "control");
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    memset(passed, -1, PASSED * sizeof *passed);
    if (first && first->cmsg_type == SCM_RIGHTS && first->cmsg_len == CMSG_LEN(PASSED * sizeof(int)))
        memcpy(passed, CMSG_DATA(first), PASSED * sizeof *passed);
    return (size_t)length;
}

/* Bring the skeleton to what a launch asks for: places first, since a mount may cover them. */
static void arrange(struct server *s, const char *asked, size_t size)
{
    const char *end = asked + size;
    if (size == s->size && !memcmp(asked, s->asked, size))
        return;
    take_back(&s->added);
    for (const char *at = asked; at < end; at += strlen(at) + 1)
        if (*at == 'd' || *at == 'f')
            make_place(at + 1, *at == 'd', &s->added);
    for (const char *at = asked; at < end; at += strlen(at) + 1) {
        if (*at != 'r' && *at != 'w')
            continue;
        const char *source = at + 1, *target = source + strlen(source) + 1;
        show(&s->mounts, source, *at == 'r' ? READ_ONLY : WRITABLE, target, &s->added);
        at = target;
    }
    memcpy(s->asked, asked, size);
    s->size = size;
}

/* Wait until the launch is dead; end it where the other side asks for it or is gone. */
static void await(const struct server *s, pid_t pid, int alive)
{
    struct pollfd both[2] = {{alive, POLLIN, 0}, {s->control, POLLIN, 0}};
    char word;
    int none[PASSED];
    while (poll(both, 2, -1) < 0 || !both[0].revents) {
        if (!both[1].revents)
            continue;
        kill(pid, SIGKILL);
        if (hear(s->control, &word, 1, none) == 0)
            both[1].fd = -1;
    }
    waitpid(pid, NULL, 0);
    close(alive);
}

/* A launch in namespaces of its own, from its clone to its death. */
static void clone_launch(struct server *s, const char *asked, size_t size, int passed[PASSED])
{
    int alive;
    arrange(s, asked, size);
    pid_t pid = (pid_t)syscall(SYS_clone, FRESH | CLONE_PIDFD | SIGCHLD, NULL, &alive, NULL, 0);
    must(pid, "clone");
    if (!pid)
        launch(s, passed);
    for (int i = 0; i < PASSED; i++)
        close(passed[i]);
    await(s, pid, alive);
}

/* Without namespaces, what a dead server left is there still: end its processes, empty the places. */
static void begin_clean(const struct setup *s)
{
    struct request r = {.owner = s->owner, .place = s->place};
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(proc, "/proc");
    for (int alive = 1, tries = 0; alive; tries++) {
        DIR *dir = list(proc);
        alive = 0;
        for (struct dirent *item; (item = readdir(dir));)
            alive |= is_ours(&r, proc, item->d_name);
        closedir(dir);
        if (alive && tries == 1000) {
            errno = EBUSY;
            fault("processes of an earlier launch");
        }
        if (alive) {
            kill_all(&r);
            usleep(5000);
        }
    }
    close(proc);
    empty_places(&r);
}

/* Without namespaces: stay root, out of the program's reach, and be the parent of all that programs leave. Of the setup
 * only the owner counts from here on: requests take its room.
 */
static void confine(struct server *s)
{
    sigset_t changed;
    begin_clean(&s->setup);
    guard_init();
    raise_oom_score();
    must(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "subreaper");
    s->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(s->proc, "/proc");
    sigemptyset(&changed);
    sigaddset(&changed, SIGCHLD);
    s->children = signalfd(-1, &changed, SFD_CLOEXEC | SFD_NONBLOCK);
    must(s->children, "children");
}

/* A launch begins: what was counted so far was another's. */
static void begin_counting(void)
{
    memset(earlier, 0, sizeof earlier);
    uint64_t now[2] = {cpu_of(RUSAGE_SELF), cpu_of(RUSAGE_CHILDREN)};
    memcpy(earlier, now, sizeof now);
    next_walk = 0;
}

/* Give back the room of a request that has been served. */
static void forget_request(void)
{
    memset(held.few, 0, held.used);
    held.used = 0;
    for (struct further *room; (room = held.further);) {
        held.further = room->next;
        free(room);
    }
    if (held.mapped)
        munmap(held.mapped, held.size);
    held.mapped = NULL;
}

/* A launch as a child of this process. What fails ends the server: what lives may be the program's, and the next server
 * begins with that.
 */
static void serve_here(const struct server *s, const int passed[PASSED])
{
    status_fd = passed[STATUS];
    begin_counting();
    struct request r = take_request(passed[REQUEST]);
    r.owner = s->setup.owner;
    r.control = s->control;
    r.children = s->children;
    memcpy(r.stream, passed, sizeof r.stream);
    serve(&r, s->proc);
    close(passed[STATUS]);
    status_fd = s->control;
    forget_request();
}

static void serve_slot(struct server *s)
{
    char asked[MOST_ASKED];
    int passed[PASSED];
    for (size_t size; (size = hear(s->control, asked, sizeof asked, passed)) > 0;) {
        if (passed[0] < 0)
            continue;
        if (s->setup.confined)
            serve_here(s, passed);
        else
            clone_launch(s, asked, size, passed);
        must((int)write(s->control, "D", 1), "control");
    }
}

int main(int argc, char **argv)
{
    static struct server s;
    if (argc != 3)
        return 125;
    status_fd = s.control = atoi(argv[1]);
    reset_signals();
    umask(0);
    must(fcntl(s.control, F_SETFD, FD_CLOEXEC), "control");
    s.setup = take_setup(atoi(argv[2]));
    for (char **group = s.setup.join; *group; group++)
        if (join_group(*group))
            fault(*group);
    if (s.setup.confined)
        confine(&s);
    else {
        s.user = enter_spaces(&s.setup);
        s.mounts = make_mounts(&s.setup);
    }
    must(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "dumpable");
    must((int)write(s.control, "R", 1), "control");
    serve_slot(&s);
    return 0;
}
