/* One launch, seen from its first process: start the program, wait, kill and reap what is left, report.
 *
 * Who includes this has prepared the place: mounts and files lie, privileges are gone except for what reading takes.
 */
#ifndef PS_PROGRAM_H
#define PS_PROGRAM_H

#include "clock.h"
#include "fence.h"
#include "tree.h"
#include "watch.h"

#include <sys/statvfs.h>
#include <sys/wait.h>

/* Nothing above the standard streams passes to the program, whatever the launcher was started with. */
static void close_at_exec(void)
{
    if (syscall(SYS_close_range, 3, ~0U, 4) < 0) /* 4: CLOSE_RANGE_CLOEXEC; older kernels have no such call */
        for (int fd = 3; fd < 4096; fd++)
            fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* The child, which borrows its parent's memory until it executes. Where that fails, `why` becomes the errno. */
static _Noreturn void run_program(const struct request *r, volatile int *why)
{
    for (int i = 0; i < 3; i++)
        if (r->stream[i] != i)
            must(dup2(r->stream[i], i), "standard streams");
    if (r->owner != NOBODY) {
        become_owner(r);
        lay_files(r);
        for (char **place = r->place; *place; place++)
            utimensat(AT_FDCWD, *place, laid_times, 0); /* one that is everybody's keeps its own */
    }
    must(setsid(), "session");
    must(chdir(r->cwd.at), "current directory");
    umask((mode_t)r->umask);
    if (r->flags & ONE_CPU)
        use_one_cpu();
    close_at_exec();
    set_limits(r);
    if (r->flags & (FENCE_EXEC | FENCE_FILES))
        fence_files(r);
    set_capabilities(0);
    open_signals();
    if (r->flags & TURN_CLOCK)
        offer_tracing();
    filter_calls(r);
    execve(r->program.at, r->argv, r->env);
    *why = errno;
    _exit(127);
}

/* Start the program; returns its process id once it is executed, 0 where that failed (errno is reported). */
static pid_t start_program(const struct request *r)
{
    volatile int why = 0;
    must(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "dumpable");
    pid_t program = vfork();
    must(program, "fork");
    if (!program)
        run_program(r, &why);
    if (r->flags & TURN_CLOCK && !why)
        begin_tracing(program);
    for (int i = 0; i < 3; i++)
        close(r->stream[i]); /* the program's streams end with it */
    uint64_t number = (uint64_t)why;
    report_numbers(why ? 'E' : 'S', &number, why ? 1 : 0);
    flush_reports(); /* from now on the launcher counts its CPU */
    return why ? 0 : program;
}

/* Whether the work directory is full, in bytes or in entries. */
static int is_full(const struct request *r)
{
    struct statvfs room;
    if (*r->place)
        return outgrown(r, 1);
    return !(r->flags & WORKSPACE) && statvfs(r->work.at, &room) == 0 && (!room.f_bfree || !room.f_ffree);
}

/* Wait for the end, then for the death of everything else; report how it ended and what all processes used. */
static void supervise(const struct request *r, pid_t program, int proc)
{
    uint64_t over = 0;
    struct usage used = {0};
    int ended = wait_for(program, r, proc, &used, &over);
    end_all(r);
    over |= convict(&used, r);
    uint64_t cpu = cpu_of(RUSAGE_CHILDREN) + used.lost_us;
    if (r->flags & WATCH && cpu > r->cpu_us)
        over |= OVER_CPU;
    if (is_full(r))
        over |= OVER_WORK;
    uint64_t numbers[4] = {(uint64_t)ended, cpu, over, cpu_of(RUSAGE_SELF)};
    report_numbers('X', numbers, 4);
}

/* Nothing reaches the first process: no wish for privileges, and no signal, as its start saw to. */
static void guard_init(void)
{
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
    umask(0);
}

/* It dies with whoever started it. */
static void die_along(void)
{
    must(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "parent death signal");
}

/* Keep only what reading the work directory and the memory of processes takes. */
static void give_up(void)
{
    drop_bounding_set();
    set_capabilities(1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_SYS_PTRACE);
}

/* All of one launch after its place is prepared; `proc` is a descriptor of a /proc that shows every process of it. */
static void serve(const struct request *r, int proc)
{
    pid_t program = start_program(r);
    if (program) {
        supervise(r, program, proc);
        if (r->flags & COLLECT)
            collect(r);
    } else
        end_all(r);
    if (r->owner != NOBODY)
        empty_places(r);
    report('Z', NULL, 0);
    flush_reports();
}

#endif
