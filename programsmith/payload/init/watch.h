/* Waiting for the program, and limits over all processes where no cgroup counts them. */
#ifndef PS_WATCH_H
#define PS_WATCH_H

#include "clock.h"
#include "owner.h"
#include "room.h"
#include "wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

enum { OVER_CPU = 1, OVER_MEMORY = 2, OVER_WORK = 4, WATCH_NANOSECONDS = 50000000 };
#define LAST_NANOSECONDS 2000000000LL

struct usage {
    uint64_t cpu_us, last_us, lost_us; /* lost: time of processes that nobody waited for */
    uint64_t memory;
    uint64_t shared, suspect; /* shared memory on the whole host when the launch began; when it was suspected, or 0 */
};

static uint64_t earlier[2]; /* of this process, of all that it reaped: what it used for other launches */

/* Microseconds of this process itself, or of all that it reaped, for this launch. */
static uint64_t cpu_of(int whom)
{
    struct rusage used;
    must(getrusage(whom, &used), "usage");
    return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) - earlier[whom == RUSAGE_CHILDREN];
}

static int read_small(int proc, const char *pid, const char *what, char *room, size_t size)
{
    char name[64];
    snprintf(name, sizeof name, "%.20s/%s", pid, what);
    int fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, room, size - 1);
    if (fd >= 0)
        close(fd);
    room[n < 0 ? 0 : n] = 0;
    return n > 0;
}

/* The number after `name` in a file of lines `name number`, which starts with another line. */
static uint64_t field(const char *room, const char *name)
{
    const char *found = strstr(room, name);
    return found ? strtoull(found + strlen(name), NULL, 10) : 0;
}

/* Whether a process belongs to the launch. One that hides its /proc entries from its user still says whose it is. */
static int is_ours(const struct request *r, int proc, const char *pid)
{
    char room[4096];
    struct stat facts;
    if (*pid < '1' || *pid > '9' || (r->owner == NOBODY && !strcmp(pid, "1")))
        return 0;
    if (r->owner == NOBODY)
        return 1;
    if (fstatat(proc, pid, &facts, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    if (facts.st_uid != 0)
        return facts.st_uid == r->owner;
    return read_small(proc, pid, "status", room, sizeof room) && field(room, "\nUid:") == r->owner;
}

/* Memory of files in memory and of shared mappings, on the whole host. */
static uint64_t shared_now(void)
{
    struct sysinfo host;
    must(sysinfo(&host), "memory of the host");
    return (uint64_t)host.sharedram * host.mem_unit;
}

/* Add the time of one live process and of its dead children; its resident pages, shared ones whole, and its page tables:
 * those of pages that it only reads grow without any of its own.
 */
static void add_process(struct usage *u, int proc, const char *pid)
{
    char room[4096];
    unsigned long ticks[4] = {0};
    if (!read_small(proc, pid, "stat", room, sizeof room))
        return;
    char *tail = strrchr(room, ')');
    if (tail)
        sscanf(tail + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &ticks[0], &ticks[1],
               &ticks[2], &ticks[3]);
    u->cpu_us += (ticks[0] + ticks[1] + ticks[2] + ticks[3]) * (1000000 / (uint64_t)sysconf(_SC_CLK_TCK));
    if (read_small(proc, pid, "status", room, sizeof room))
        u->memory += (field(room, "\nVmRSS:") + field(room, "\nVmPTE:")) * 1024;
}

/* What a process really takes: each page divided by how many map it, and its page tables. Where that is closed to us,
 * all of its own and all that it shares with others, so that no process takes less by closing it.
 */
static uint64_t proportional(int proc, const char *pid)
{
    char room[4096];
    if (!read_small(proc, pid, "status", room, sizeof room))
        return 0;
    uint64_t tables = field(room, "\nVmPTE:"), closed = field(room, "\nRssAnon:") + field(room, "\nRssShmem:");
    int open = read_small(proc, pid, "smaps_rollup", room, sizeof room);
    return (tables + (open ? field(room, "\nPss:") : closed)) * 1024;
}

/* Whether a process maps memory that it shares and that is no file of any place. Where that is closed to us, it does. */
static int shares_memory(int proc, const char *pid)
{
    char line[8192];
    int found = 0;
    snprintf(line, sizeof line, "%.20s/maps", pid);
    int fd = openat(proc, line, O_RDONLY | O_CLOEXEC);
    FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
    if (!maps)
        return errno == EACCES || errno == EPERM;
    while (!found && fgets(line, sizeof line, maps))
        found = strstr(line, " /dev/zero (deleted)") || strstr(line, " [anon_shmem:");
    fclose(maps);
    return found;
}

static void act_as(uid_t user, gid_t group)
{
    setfsgid(group), setfsuid(user);
}

static DIR *list(int proc)
{
    int copy = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (!dir)
        fault("watch");
    return dir;
}

/* Pages that several processes share count once. The kernel walks page tables for that, so it is asked in doubt only. */
static void refine(struct usage *u, const struct request *r, int proc)
{
    DIR *dir = list(proc);
    u->memory = 0;
    if (r->owner != NOBODY) /* reading another's memory map takes being it */
        act_as((uid_t)r->owner, (gid_t)r->owner);
    for (struct dirent *item; (item = readdir(dir));)
        if (is_ours(r, proc, item->d_name))
            u->memory += proportional(proc, item->d_name);
    act_as(geteuid(), getegid());
    closedir(dir);
}

/* Whether the launch may hold shared memory that no process has in its tables any more: it dropped or unmapped most of
 * it, and the rest keeps all. No count of a process shows that, so the host's is asked, beyond all that files of the
 * launch may take, and it counts only for a launch that maps such memory.
 */
static int may_hide_memory(const struct usage *u, const struct request *r, int proc)
{
    int found = 0;
    if (shared_now() <= u->shared + r->shared)
        return 0;
    DIR *dir = list(proc);
    if (r->owner != NOBODY)
        act_as((uid_t)r->owner, (gid_t)r->owner);
    for (struct dirent *item; !found && (item = readdir(dir));)
        found = is_ours(r, proc, item->d_name) && shares_memory(proc, item->d_name);
    act_as(geteuid(), getegid());
    closedir(dir);
    return found;
}

/* Which limit a suspected launch had passed, all of whose processes are dead: what it hid is free now. Where that was
 * less than it may have, others took the memory, and nothing is known of how the launch would have ended. A sandbox may
 * have another beside it, which is suspected at the same moment and may be the one: it has a little time to end.
 */
static uint64_t convict(const struct usage *u, const struct request *r)
{
    int64_t until = nanoseconds() + ((r->flags & WORKSPACE) ? LAST_NANOSECONDS : 0);
    struct timespec period = {0, WATCH_NANOSECONDS};
    if (!u->suspect)
        return 0;
    for (;;) {
        uint64_t now = shared_now();
        if (now < u->suspect && u->suspect - now > r->memory)
            return OVER_MEMORY;
        if (nanoseconds() >= until)
            break;
        nanosleep(&period, NULL);
    }
    errno = EAGAIN;
    fault("memory that others share grew meanwhile");
}

static void measure(struct usage *u, const struct request *r, int proc)
{
    DIR *dir = list(proc);
    u->cpu_us = cpu_of(RUSAGE_CHILDREN);
    u->memory = 0;
    for (struct dirent *item; (item = readdir(dir));)
        if (is_ours(r, proc, item->d_name))
            add_process(u, proc, item->d_name);
    closedir(dir);
    if (u->cpu_us < u->last_us)
        u->lost_us += u->last_us - u->cpu_us;
    u->last_us = u->cpu_us;
    u->cpu_us += u->lost_us;
    if (u->memory > r->memory)
        refine(u, r, proc);
}

/* Block until a child changes state, which is a signal that the caller blocks, or the time of the next look has come;
 * whether the launcher wants an end. Only where a user tells processes apart does it ask: elsewhere it kills this
 * process, and the kernel the rest.
 */
static int is_stopped(const struct request *r, int64_t look)
{
    int64_t left = look - nanoseconds();
    struct timespec period = {0, left > 0 ? left : 0};
    struct pollfd both[2] = {{r->control, POLLIN, 0}, {r->children, POLLIN, 0}};
    struct signalfd_siginfo said;
    sigset_t awaited;
    if (r->owner != NOBODY) {
        must(ppoll(both, 2, &period, NULL), "wait");
        if (both[1].revents)
            must((int)read(r->children, &said, sizeof said), "wait");
        return both[0].revents != 0;
    }
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigtimedwait(&awaited, NULL, &period);
    return 0;
}

/* Which limits all processes of the launch together have passed by now. */
static uint64_t passed(struct usage *u, const struct request *r, int proc)
{
    measure(u, r, proc);
    uint64_t over = (u->cpu_us > r->cpu_us ? OVER_CPU : 0) | (u->memory > r->memory ? OVER_MEMORY : 0) |
                    (outgrown(r, 0) ? OVER_WORK : 0);
    if (!over && !u->suspect && may_hide_memory(u, r, proc))
        u->suspect = shared_now();
    return over;
}

/* Reap until `program` is dead; returns its wait status. With WATCH, notes in `over` which limit was passed: the first
 * look comes when a period is over, since it costs more than a short program.
 */
static int wait_for(pid_t program, const struct request *r, int proc, struct usage *u, uint64_t *over)
{
    int ended = 0, watch = (r->flags & WATCH) != 0;
    int64_t look = watch ? nanoseconds() + WATCH_NANOSECONDS : 0;
    u->shared = watch ? shared_now() : 0;
    for (;;) {
        pid_t dead = wait4(-1, &ended, watch ? WNOHANG : 0, NULL);
        if (dead > 0 && WIFSTOPPED(ended)) {
            follow(r, dead, ended);
            continue;
        }
        if (dead == program)
            return ended;
        if (dead < 0 && errno != EINTR)
            fault("wait");
        if (dead != 0)
            continue;
        int stop = is_stopped(r, look);
        if (nanoseconds() >= look) {
            *over |= passed(u, r, proc);
            look = nanoseconds() + WATCH_NANOSECONDS;
        }
        if (*over || u->suspect || stop)
            kill_all(r);
    }
}

/* Kill and reap what is left of the launch. Each process of it is a child of this one, or of one that is: where there is
 * no child, there is nothing to kill.
 */
static void end_all(const struct request *r)
{
    for (pid_t dead; (dead = wait4(-1, NULL, WNOHANG, NULL)) >= 0 || errno == EINTR;)
        if (dead == 0) {
            kill_all(r);
            wait4(-1, NULL, 0, NULL);
        }
}

#endif
