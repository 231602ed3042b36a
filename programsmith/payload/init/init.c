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
#include "program.h"

#include <grp.h>

/* One sized tmpfs carries the work directory, /tmp and /dev/shm, so that size and entry caps count them together. */
static void mount_writable(const struct request *r)
{
    char options[96], from[4096];
    const char *target[3] = {"/tmp", "/dev/shm", r->work.at};
    unsigned long flags = MS_NOSUID | MS_NODEV | (r->flags & EXEC_WORK ? 0 : MS_NOEXEC);
    snprintf(options, sizeof options, "size=%llu,nr_inodes=%llu,mode=0755", (unsigned long long)r->work_bytes,
             (unsigned long long)r->work_files + 4);
    must(mount("tmpfs", r->hidden.at, "tmpfs", flags, options), "work tmpfs");
    for (int i = 0; i < 3; i++) {
        snprintf(from, sizeof from, "%s/%s", r->hidden.at, writable[i]);
        must(mkdir(from, 0755), "work tmpfs");
        must(chmod(from, i == WORK ? 0755 : 01777), "work tmpfs");
        if (is_of_launch(r, i))
            must(mount(from, target[i], NULL, MS_BIND, NULL), "bind of the work tmpfs");
    }
    must(umount2(r->hidden.at, MNT_DETACH), "work tmpfs");
}

static void prepare(const struct request *r)
{
    die_along();
    guard_init();
    must(umount2(r->hidden.at, MNT_DETACH), "hiding the init"); /* it keeps running from what it has mapped */
    mount_writable(r);
    show_terminals(r);
    close_scripts(r);
    show_proc();
    lay_files(r);
    give_up();
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
    reset_signals();
    struct request r = take_request(atoi(argv[1]));
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(proc, "/proc");
    prepare(&r);
    serve(&r, proc);
    return 0;
}
