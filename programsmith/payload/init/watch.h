/* Waiting for the program, and limits over all processes where no cgroup counts them. */
#ifndef PS_WATCH_H
#define PS_WATCH_H

#include "owner.h"
#include "room.h"
#include "wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { OVER_CPU = 1, OVER_MEMORY = 2, OVER_WORK = 4, WATCH_NANOSECONDS = 50000000 };

struct usage {
    uint64_t cpu_us, last_us, lost_us; /* lost: time of processes that nobody waited for */
    uint64_t memory;
};

/* Microseconds of this process itself, or of all that it reaped. */
static uint64_t cpu_of(int whom)
{
    struct rusage used;
    must(getrusage(whom, &used), "usage");
    return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
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

/* Add the time of one live process and of its dead children; its resident pages, shared ones whole. */
static void add_process(struct usage *u, int proc, const char *pid)
{
    char room[1024];
    unsigned long ticks[4] = {0}, resident = 0;
    if (!read_small(proc, pid, "stat", room, sizeof room))
        return;
    char *tail = strrchr(room, ')');
    if (tail)
        sscanf(tail + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &ticks[0], &ticks[1],
               &ticks[2], &ticks[3]);
    u->cpu_us += (ticks[0] + ticks[1] + ticks[2] + ticks[3]) * (1000000 / (uint64_t)sysconf(_SC_CLK_TCK));
    if (read_small(proc, pid, "statm", room, sizeof room))
        sscanf(room, "%*u %lu", &resident);
    u->memory += resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What a process really takes: each page divided by how many map it. Where that is closed to us, all of its own and
 * all that it shares with others, so that no process takes less by closing it.
 */
static uint64_t proportional(int proc, const char *pid)
{
    char room[4096];
    if (read_small(proc, pid, "smaps_rollup", room, sizeof room))
        return field(room, "\nPss:") * 1024;
    if (read_small(proc, pid, "status", room, sizeof room))
        return (field(room, "\nRssAnon:") + field(room, "\nRssShmem:")) * 1024;
    return 0;
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
        setfsuid((uid_t)r->owner), setfsgid((gid_t)r->owner);
    for (struct dirent *item; (item = readdir(dir));)
        if (is_ours(r, proc, item->d_name))
            u->memory += proportional(proc, item->d_name);
    if (r->owner != NOBODY)
        setfsgid(getegid()), setfsuid(geteuid());
    closedir(dir);
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

/* Block until a child changes state or the watch period is over; whether the launcher wants an end. Only where a user
 * tells processes apart does it ask by SIGTERM: elsewhere it kills this process, and the kernel the rest. Both signals
 * are blocked by the caller.
 */
static int is_stopped(const struct request *r)
{
    struct timespec period = {0, WATCH_NANOSECONDS};
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    if (r->owner != NOBODY)
        sigaddset(&awaited, SIGTERM);
    return sigtimedwait(&awaited, NULL, &period) == SIGTERM;
}

/* Reap until `program` is dead; returns its wait status. With WATCH, notes in `over` which limit was passed. */
static int wait_for(pid_t program, const struct request *r, int proc, struct usage *u, uint64_t *over)
{
    int ended = 0, watch = (r->flags & WATCH) != 0;
    for (;;) {
        pid_t dead = wait4(-1, &ended, watch ? WNOHANG : 0, NULL);
        if (dead == program)
            return ended;
        if (dead < 0 && errno != EINTR)
            fault("wait");
        if (dead != 0)
            continue;
        measure(u, r, proc);
        *over |= (u->cpu_us > r->cpu_us ? OVER_CPU : 0) | (u->memory > r->memory ? OVER_MEMORY : 0) |
                 (outgrown(r, 0) ? OVER_WORK : 0);
        if (*over || is_stopped(r))
            kill_all(r);
    }
}

static void end_all(const struct request *r)
{
    do
        kill_all(r);
    while (wait4(-1, NULL, 0, NULL) > 0 || errno == EINTR);
}

#endif
