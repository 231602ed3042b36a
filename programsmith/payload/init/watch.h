/* Waiting for the program, and limits over all processes where no cgroup counts them. */
#ifndef PS_WATCH_H
#define PS_WATCH_H

#include "wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { OVER_CPU = 1, OVER_MEMORY = 2, OVER_WORK = 4, WATCH_NANOSECONDS = 50000000 };

struct usage {
    uint64_t cpu_us, last_us, lost_us; /* lost: time of processes that nobody waited for */
    uint64_t memory, peak;
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

/* Add one live process: its time and that of its dead children; its private pages, the largest shared part once. */
static void add_process(struct usage *u, int proc, const char *pid, uint64_t *shared_most)
{
    char room[1024];
    unsigned long ticks[4] = {0}, resident = 0, shared = 0;
    if (!read_small(proc, pid, "stat", room, sizeof room))
        return;
    char *tail = strrchr(room, ')');
    if (tail)
        sscanf(tail + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &ticks[0], &ticks[1],
               &ticks[2], &ticks[3]);
    u->cpu_us += (ticks[0] + ticks[1] + ticks[2] + ticks[3]) * (1000000 / (uint64_t)sysconf(_SC_CLK_TCK));
    if (read_small(proc, pid, "statm", room, sizeof room))
        sscanf(room, "%*u %lu %lu", &resident, &shared);
    if (resident > shared)
        u->memory += (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (shared * (uint64_t)sysconf(_SC_PAGESIZE) > *shared_most)
        *shared_most = shared * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void measure(struct usage *u, int proc)
{
    uint64_t shared_most = 0;
    int copy = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (!dir)
        fault("watch");
    u->cpu_us = cpu_of(RUSAGE_CHILDREN);
    u->memory = 0;
    for (struct dirent *item; (item = readdir(dir));)
        if (item->d_name[0] >= '1' && item->d_name[0] <= '9' && strcmp(item->d_name, "1"))
            add_process(u, proc, item->d_name, &shared_most);
    closedir(dir);
    if (u->cpu_us < u->last_us)
        u->lost_us += u->last_us - u->cpu_us;
    u->last_us = u->cpu_us;
    u->cpu_us += u->lost_us;
    u->memory += shared_most;
    if (u->memory > u->peak)
        u->peak = u->memory;
}

/* Block until a child changes state or the watch period is over. Signals of interest are blocked by the caller. */
static void pause_for_child(void)
{
    struct timespec period = {0, WATCH_NANOSECONDS};
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigtimedwait(&children, NULL, &period);
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
        measure(u, proc);
        *over |= (u->cpu_us > r->cpu_us ? OVER_CPU : 0) | (u->memory > r->memory ? OVER_MEMORY : 0);
        if (*over)
            kill(-1, SIGKILL);
        pause_for_child();
    }
}

static void end_all(void)
{
    do
        kill(-1, SIGKILL);
    while (wait4(-1, NULL, 0, NULL) > 0 || errno == EINTR);
}

#endif
