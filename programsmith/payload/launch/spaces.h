/* Namespaces: those of the server, which its launches share, and the user that a launch becomes. */
#ifndef PS_SPACES_H
#define PS_SPACES_H

#include "../init/fence.h"
#include "setup.h"

#include <grp.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* The filter closes everything that could stay behind in an ipc namespace, so launches may share one. */
enum {
    POOLED = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWCGROUP | CLONE_NEWIPC,
    FRESH = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS
};

static void write_line(pid_t pid, const char *file, const char *line)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, line, strlen(line)) < 0)
        fault(file);
    close(fd);
}

/* In the user namespace of `pid`, `inside` is `outside`; nobody else exists there. */
static void map_user(pid_t pid, uint64_t inside, uint64_t outside, uint64_t group)
{
    char line[64];
    write_line(pid, "setgroups", "deny");
    snprintf(line, sizeof line, "%llu %llu 1", (unsigned long long)inside, (unsigned long long)outside);
    write_line(pid, "uid_map", line);
    snprintf(line, sizeof line, "%llu %llu 1", (unsigned long long)inside, (unsigned long long)group);
    write_line(pid, "gid_map", line);
}

/* A user namespace that holds only the launches' user, made by root beside itself; a descriptor of it. */
static int user_space(const struct setup *s)
{
    char path[64];
    pid_t holder = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0);
    must(holder, "user namespace");
    if (!holder) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        for (;;)
            pause();
    }
    map_user(holder, s->inside, s->owner, s->owner);
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)holder);
    int space = open(path, O_RDONLY | O_CLOEXEC);
    must(space, "user namespace");
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    return space;
}

static void raise_loopback(void)
{
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    must(fd, "loopback");
    must(ioctl(fd, SIOCSIFFLAGS, &lo), "loopback");
    close(fd);
}

/* The server's own namespaces. Returns the user namespace that launches enter, -1 where they are in it already. */
static int enter_spaces(const struct setup *s)
{
    int space = -1;
    if (s->owner == NOBODY) {
        uid_t user = getuid();
        gid_t group = getgid();
        must(unshare(CLONE_NEWUSER), "user namespace");
        map_user(getpid(), s->inside, user, group);
    } else {
        must(setgroups(0, NULL), "groups");
        space = user_space(s);
    }
    must(unshare(POOLED), "namespaces");
    raise_loopback();
    return space;
}

/* Become the launches' user; every capability that is left holds in their user namespace alone. */
static void become_user(const struct setup *s, int space)
{
    if (space < 0)
        return;
    must(setns(space, CLONE_NEWUSER), "user namespace");
    must(setresgid((gid_t)s->inside, (gid_t)s->inside, (gid_t)s->inside), "group");
    must(setresuid((uid_t)s->inside, (uid_t)s->inside, (uid_t)s->inside), "user");
}

#endif
