/* Another time of day for the program: its questions stop it, the first process answers them (ptrace).
 *
 * The filter hands over what has to do with the time of day (seccomp.py) and lets the rest pass at full speed. The
 * vDSO, which tells the time without a call, is struck from what the kernel tells a new program about itself: the C
 * library, dynamic or static, and Go then make calls. Everything is ahead by the same time, so durations stay as they
 * are: the time itself, times of files that this launch made, waits until a time of day. A stopped process runs on.
 */
#ifndef PS_CLOCK_H
#define PS_CLOCK_H

#include "wire.h"

#include <elf.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

enum { SYSCALL_STOP = SIGTRAP | 0x80, AUX_IGNORE = 1, AUX_VDSO = 33, SYSTEM_CALL_SET = 0x404 };

#if defined __x86_64__
#define NUMBER(r) ((long)(r).orig_rax)
#define RESULT(r) ((r).rax)
#define STACK(r) ((r).rsp)
static uint64_t argument(const struct user_regs_struct *r, int at)
{
    const unsigned long long all[] = {r->rdi, r->rsi, r->rdx, r->r10, r->r8};
    return all[at];
}
#elif defined __aarch64__
#define NUMBER(r) ((long)(r).regs[8])
#define RESULT(r) ((r).regs[0])
#define STACK(r) ((r).sp)
static uint64_t argument(const struct user_regs_struct *r, int at)
{
    return r->regs[at]; /* of a call that is over, all but the first */
}
#endif

static int64_t clock_begun; /* when the program started: what files have of it or later, this launch gave them */

static int get_registers(pid_t who, struct user_regs_struct *r)
{
    struct iovec all = {r, sizeof *r};
    return ptrace(PTRACE_GETREGSET, who, NT_PRSTATUS, &all) == 0;
}

/* Let the call that `who` asks for not happen and seem to have returned `result`. */
static void answer(pid_t who, struct user_regs_struct *r, int64_t result)
{
    struct iovec all = {r, sizeof *r};
    RESULT(*r) = (uint64_t)result;
#if defined __x86_64__
    r->orig_rax = ~0ULL;
#else
    int none = -1;
    struct iovec call = {&none, sizeof none};
    ptrace(PTRACE_SETREGSET, who, SYSTEM_CALL_SET, &call);
#endif
    ptrace(PTRACE_SETREGSET, who, NT_PRSTATUS, &all);
}

static int peek(pid_t who, uint64_t at, int64_t *value)
{
    errno = 0;
    *value = ptrace(PTRACE_PEEKDATA, who, at, NULL);
    return !errno;
}

static int poke(pid_t who, uint64_t at, int64_t value)
{
    return ptrace(PTRACE_POKEDATA, who, at, value) == 0;
}

/* Write a time as two words, the second one in `parts`; 0 or the error that the call would have. */
static int64_t tell(pid_t who, uint64_t at, int64_t seconds, int64_t parts)
{
    return !at || (poke(who, at, seconds) && poke(who, at + 8, parts)) ? 0 : -EFAULT;
}

/* Move a time by `by` where it lies in the program's memory. */
static void move_time(pid_t who, uint64_t at, int64_t by)
{
    int64_t seconds;
    if (at && peek(who, at, &seconds))
        poke(who, at, seconds + by);
}

/* Where a call about files or a wait has its time, as number of an argument; -1 for every other call. */
static int place_of_time(long number)
{
    switch (number) {
#ifdef SYS_stat
    case SYS_stat:
    case SYS_lstat:
#endif
    case SYS_fstat:
        return 1;
    case SYS_newfstatat:
    case SYS_clock_nanosleep:
        return 2;
    case SYS_futex:
        return 3;
#ifdef SYS_statx
    case SYS_statx:
        return 4;
#endif
    default:
        return -1;
    }
}

static int is_wait(long number)
{
    return number == SYS_futex || number == SYS_clock_nanosleep;
}

/* A program is asking. Returns how it goes on: PTRACE_CONT where it has its answer, else until the call is over. */
static int enter_call(const struct request *r, pid_t who)
{
    struct user_regs_struct regs;
    struct timespec now;
    int64_t ahead = (int64_t)r->clock, result;
    if (!get_registers(who, &regs))
        return PTRACE_CONT;
    long number = NUMBER(regs);
    if (is_wait(number))
        move_time(who, argument(&regs, place_of_time(number)), -ahead);
    if (place_of_time(number) >= 0)
        return PTRACE_SYSCALL;
    clock_gettime(number == SYS_clock_gettime ? (clockid_t)argument(&regs, 0) : CLOCK_REALTIME, &now);
    int64_t seconds = now.tv_sec + ahead;
    if (number == SYS_clock_gettime)
        result = tell(who, argument(&regs, 1), seconds, now.tv_nsec);
    else if (number == SYS_gettimeofday)
        result = tell(who, argument(&regs, 0), seconds, now.tv_nsec / 1000);
    else
        result = !argument(&regs, 0) || poke(who, argument(&regs, 0), seconds) ? seconds : -EFAULT;
    if (number == SYS_gettimeofday && argument(&regs, 1) && !poke(who, argument(&regs, 1), 0))
        result = -EFAULT; /* the zone: Greenwich, as in every view */
    answer(who, &regs, result);
    return PTRACE_CONT;
}

/* A call is over that said something of a file, or waited. */
static void leave_call(const struct request *r, pid_t who)
{
    static const int plain[] = {offsetof(struct stat, st_atim), offsetof(struct stat, st_mtim),
                                offsetof(struct stat, st_ctim)};
    static const int extended[] = {64, 80, 96, 112}; /* access, birth, change, modification in struct statx */
    struct user_regs_struct regs;
    struct timespec now;
    int64_t ahead = (int64_t)r->clock, seconds;
    if (!get_registers(who, &regs) || place_of_time(NUMBER(regs)) < 0)
        return;
    uint64_t at = argument(&regs, place_of_time(NUMBER(regs)));
    if (is_wait(NUMBER(regs))) {
        move_time(who, at, ahead);
        return;
    }
    if ((int64_t)RESULT(regs) < 0)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    int wide = place_of_time(NUMBER(regs)) == 4;
    for (int i = 0; i < (wide ? 4 : 3); i++) {
        uint64_t one = at + (uint64_t)(wide ? extended[i] : plain[i]);
        if (peek(who, one, &seconds) && seconds >= clock_begun && seconds <= now.tv_sec + 1)
            poke(who, one, seconds + ahead);
    }
}

/* A program has just been executed: what the kernel told it begins at its stack. */
static void hide_vdso(pid_t who)
{
    struct user_regs_struct regs;
    int64_t word = 1, lists = 2;
    if (!get_registers(who, &regs))
        return;
    uint64_t at = STACK(regs) + 8; /* behind the number of arguments: arguments, environment, facts */
    for (; lists && peek(who, at, &word); at += 8)
        lists -= !word;
    for (; peek(who, at, &word) && word; at += 16)
        if (word == AUX_VDSO)
            poke(who, at, AUX_IGNORE);
}

/* In the child, before the filter. */
static void offer_tracing(void)
{
    must((int)ptrace(PTRACE_TRACEME, 0, NULL, NULL), "clock");
}

/* The program has been executed and waits; so will whatever it starts. */
static void begin_tracing(pid_t program)
{
    struct timespec now;
    int status;
    long all = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEEXEC |
               PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
    must(waitpid(program, &status, 0), "clock");
    clock_gettime(CLOCK_REALTIME, &now);
    clock_begun = now.tv_sec - 1;
    must((int)ptrace(PTRACE_SETOPTIONS, program, NULL, all), "clock");
    hide_vdso(program);
    must((int)ptrace(PTRACE_CONT, program, NULL, NULL), "clock");
}

/* What is sent on to a process that stopped for a signal. The stop of a newborn is the kernel's: nobody sent it. */
static long signal_for(pid_t who, int number)
{
    siginfo_t facts;
    if (ptrace(PTRACE_GETSIGINFO, who, NULL, &facts) < 0)
        return 0; /* it is stopped already */
    return number == SIGSTOP && facts.si_pid == 0 ? 0 : number;
}

/* A traced process stopped: do what it stopped for and let it go on. One that was killed meanwhile answers nothing. */
static void follow(const struct request *r, pid_t who, int status)
{
    int event = status >> 16, how = PTRACE_CONT;
    long pass = 0;
    if (WSTOPSIG(status) == SYSCALL_STOP)
        leave_call(r, who);
    else if (event == PTRACE_EVENT_SECCOMP)
        how = enter_call(r, who);
    else if (event == PTRACE_EVENT_EXEC)
        hide_vdso(who);
    else if (!event)
        pass = signal_for(who, WSTOPSIG(status));
    ptrace((enum __ptrace_request)how, who, NULL, pass);
}

#endif
