/* First process of a sandbox. Arguments: `REQUEST_FD STATUS_FD`, or
 * `enter UID GID [join CGROUP_FILE - | stage FROM TO]... -- COMMAND...`.
 *
 * It mounts the sized work directory, lays the case's files down, takes every privilege away, starts the program,
 * waits, kills and reaps whatever is left, and only then reads the work directory. What it reports goes through a
 * pipe that the program never holds; it is not dumpable, so its memory and descriptors are closed to the program.
 * `enter` runs outside as root: it joins cgroups, stages trees where an ordinary user reaches them, becomes that user
 * and executes the command (bwrap).
 */
#define _GNU_SOURCE
#include "fence.h"
#include "tree.h"
#include "watch.h"

#include <grp.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

/* Nothing above the standard streams passes to the program, whatever the launcher was started with. */
static void close_at_exec(void)
{
    if (syscall(SYS_close_range, 3, ~0U, 4) < 0) /* 4: CLOSE_RANGE_CLOEXEC; older kernels have no such call */
        for (int fd = 3; fd < 4096; fd++)
            fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static _Noreturn void run_program(const struct request *r, int go, int failed)
{
    char byte;
    raise_oom_score();
    must(setsid(), "session");
    must(chdir(r->cwd.at), "current directory");
    umask((mode_t)r->umask);
    if (r->flags & ONE_CPU)
        use_one_cpu();
    if (read(go, &byte, 1) != 0)
        fault("start");
    close_at_exec();
    set_limits(r);
    if (r->flags & FENCE_EXEC)
        fence_exec(r);
    set_capabilities(0);
    reset_signals();
    filter_calls(r);
    execve(r->program.at, r->argv, r->env);
    int why = errno;
    if (write(failed, &why, sizeof why) < 0)
        _exit(1);
    _exit(127);
}

static void lose_streams(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    must(null, "/dev/null");
    for (int fd = 0; fd < 3; fd++)
        must(dup2(null, fd), "standard streams");
    close(null);
}

/* Start the program; returns its process id once it is executed, 0 where that failed (errno is reported). */
static pid_t start_program(const struct request *r)
{
    int go[2], failed[2], why = 0;
    must(pipe2(go, O_CLOEXEC), "pipe");
    must(pipe2(failed, O_CLOEXEC), "pipe");
    pid_t program = fork();
    must(program, "fork");
    if (!program) {
        close(go[1]);
        close(failed[0]);
        run_program(r, go[0], failed[1]);
    }
    must(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "dumpable");
    lose_streams();
    close(failed[1]);
    close(go[0]);
    close(go[1]);
    ssize_t size = read(failed[0], &why, sizeof why);
    close(failed[0]);
    if (size < 0)
        fault("start");
    uint64_t number = (uint64_t)why;
    report_numbers(size ? 'E' : 'S', &number, size ? 1 : 0);
    return size ? 0 : program;
}

/* Whether the work directory is full, in bytes or in entries. */
static int is_full(const struct request *r)
{
    struct statvfs room;
    return !(r->flags & WORKSPACE) && statvfs(r->work.at, &room) == 0 && (!room.f_bfree || !room.f_ffree);
}

/* Wait for the end, then for the death of everything else; report how it ended and what all processes used. */
static void supervise(const struct request *r, pid_t program, int proc)
{
    uint64_t over = 0;
    struct usage used = {0};
    int ended = wait_for(program, r, proc, &used, &over);
    end_all();
    uint64_t cpu = cpu_of_dead() + used.lost_us;
    if (r->flags & WATCH && cpu > r->cpu_us)
        over |= OVER_CPU;
    if (is_full(r))
        over |= OVER_WORK;
    uint64_t numbers[3] = {(uint64_t)ended, cpu, over};
    report_numbers('X', numbers, 3);
}

static void prepare(const struct request *r)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    must(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "parent death signal");
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
    hide_init(r);
    mount_writable(r);
    mount_proc();
    lay_files(r);
    drop_bounding_set();
    set_capabilities(1ULL << CAP_DAC_READ_SEARCH);
}

static int join_group(const char *file)
{
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    int failed = fd < 0 || write(fd, "0", 1) != 1;
    if (fd >= 0)
        close(fd);
    return failed;
}

/* Show `from` at `to` in a mount namespace of our own: a place that the ordinary user can reach. */
static int stage(const char *from, const char *to)
{
    static int alone;
    if (!alone && (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0))
        return 1;
    alone = 1;
    return mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0;
}

static int become(const char *user, const char *group)
{
    uid_t uid = (uid_t)strtoul(user, NULL, 10);
    gid_t gid = (gid_t)strtoul(group, NULL, 10);
    return setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0;
}

static int enter(int argc, char **argv)
{
    int at = 4, failed = 0;
    for (; at + 2 < argc && strcmp(argv[at], "--") && !failed; at += 3)
        failed = strcmp(argv[at], "join") ? stage(argv[at + 1], argv[at + 2]) : join_group(argv[at + 1]);
    if (!failed && !become(argv[2], argv[3]) && at + 1 < argc)
        execv(argv[at + 1], argv + at + 1);
    fprintf(stderr, "enter: %s: %s\n", failed ? argv[at - 2] : argv[2], strerror(errno));
    return 125;
}

int main(int argc, char **argv)
{
    if (argc > 5 && !strcmp(argv[1], "enter"))
        return enter(argc, argv);
    if (argc != 3)
        return 125;
    status_fd = atoi(argv[2]);
    must(fcntl(status_fd, F_SETFD, FD_CLOEXEC), "status channel");
    struct request r = take_request(atoi(argv[1]));
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(proc, "/proc");
    prepare(&r);
    pid_t program = start_program(&r);
    if (program) {
        supervise(&r, program, proc);
        if (r.flags & COLLECT)
            collect(&r);
    } else
        end_all();
    report('Z', NULL, 0);
    return 0;
}
