/* What stands between the program and everything else: mounts, capabilities, resource limits, Landlock, seccomp. */
#ifndef PS_FENCE_H
#define PS_FENCE_H

#include "wire.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446

static const char *const writable[3] = {"tmp", "shm", "work"};
enum { TEMPORARY = 0, WORK = 2 };

/* Whether one of these places is fresh; else a directory that outlives the launch is there already. */
static int is_of_launch(const struct request *r, int place)
{
    return !((place == WORK && r->flags & WORKSPACE) || (place == TEMPORARY && r->flags & KEEP_TMP));
}

static void raise_oom_score(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "1000", 4) < 0)
        fault("oom score");
    if (fd >= 0)
        close(fd);
}

/* A proc without other users' processes and without anything about the host, as far as this kernel can. In the end it is
 * read-only: what a program writes to its own memory there needs no leave of what it overwrites.
 */
static void show_proc(void)
{
    unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (mount("proc", "/proc", "proc", flags, "hidepid=2,subset=pid") < 0)
        mount("proc", "/proc", "proc", flags, "hidepid=2"); /* where this fails, bwrap's own is there */
    raise_oom_score();
    must(mount(NULL, "/proc", NULL, flags | MS_REMOUNT | MS_BIND | MS_RDONLY, NULL), "/proc");
}

/* Of a tree of scripts nothing is executed or mapped as code but what may be executed by its name. */
static void close_scripts(const struct request *r)
{
    struct statvfs facts;
    for (uint64_t i = 0; i < r->rules; i++) {
        const struct bytes *tree = &r->rule[i].path;
        if (!(r->rule[i].rights & SCRIPTS))
            continue;
        for (uint64_t j = 0; j < r->rules; j++) {
            const struct bytes *path = &r->rule[j].path;
            if (r->rule[j].rights & MAY_EXECUTE && path->length > tree->length && path->at[tree->length] == '/' &&
                !memcmp(path->at, tree->at, tree->length))
                must(mount(path->at, path->at, NULL, MS_BIND, NULL), path->at);
        }
        must(statvfs(tree->at, &facts), tree->at);
        must(mount(NULL, tree->at, NULL, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV | MS_NOEXEC |
                   (facts.f_flag & ST_RDONLY ? MS_RDONLY : 0), NULL), tree->at);
    }
}

/* Terminals of the launch's own, where it is a sandbox: an agent in it may open one. A host may refuse: then there is
 * none.
 */
static void show_terminals(const struct request *r)
{
    const char *options = "newinstance,ptmxmode=0666,mode=0620,max=64";
    if (r->flags & WORKSPACE && mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, options) < 0)
        errno = 0;
}

/* Become a member of a control group by its file; not 0 where that fails. */
static int join_group(const char *file)
{
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    int failed = fd < 0 || write(fd, "0", 1) != 1;
    if (fd >= 0)
        close(fd);
    return failed;
}

static void set_capabilities(uint64_t keep)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct caps[2] = {{(uint32_t)keep, (uint32_t)keep, 0},
                                             {(uint32_t)(keep >> 32), (uint32_t)(keep >> 32), 0}};
    must((int)syscall(SYS_capset, &head, caps), "capabilities");
}

static void drop_bounding_set(void)
{
    int cap = 0;
    while (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
        cap++;
    must(prctl(PR_CAPBSET_READ, cap, 0, 0, 0) < 0 ? 0 : -1, "bounding set"); /* the first that does not exist */
}

static void use_one_cpu(void)
{
    cpu_set_t all, one;
    must(sched_getaffinity(0, sizeof all, &all), "affinity");
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    must(sched_setaffinity(0, sizeof one, &one), "affinity");
}

/* No signal is handled or ignored, and none arrives: what is started inherits the first and opens itself again. */
static void reset_signals(void)
{
    sigset_t all;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

static void open_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void set_limits(const struct request *r)
{
    for (uint64_t i = 0; i < r->limits; i++) {
        struct rlimit64 value = {r->limit[i].soft, r->limit[i].hard}, now;
        must(getrlimit64((int)r->limit[i].resource, &now), "resource limit");
        if (value.rlim_max > now.rlim_max)
            value.rlim_max = now.rlim_max;
        if (value.rlim_cur > value.rlim_max)
            value.rlim_cur = value.rlim_max;
        must(setrlimit64((int)r->limit[i].resource, &value), "resource limit");
    }
}

/* Rights of Landlock: the first 13 came with its first version, one each with the second, third and fifth. */
enum {
    EXECUTE_FILE = 1,
    WRITE_FILE = 2,
    READ_FILE = 4,
    READ_FOLDER = 8,
    REFER = 1 << 13,
    TRUNCATE = 1 << 14,
    CONTROL_DEVICE = 1 << 15,
    FILE_RIGHTS = EXECUTE_FILE | WRITE_FILE | READ_FILE | TRUNCATE | CONTROL_DEVICE
};

static uint64_t known_rights(int version)
{
    return 0x1fff | (version > 1 ? REFER : 0) | (version > 2 ? TRUNCATE : 0) | (version > 4 ? CONTROL_DEVICE : 0);
}

static void add_rule(int rules, uint64_t handled, const struct rule *wanted)
{
    struct __attribute__((packed)) {
        uint64_t allowed;
        int32_t parent;
    } rule = {0, open(wanted->path.at, O_PATH | O_CLOEXEC)};
    struct stat facts;
    if (rule.parent < 0)
        return; /* what does not exist allows nothing */
    must(fstat(rule.parent, &facts), "Landlock rule");
    if (wanted->rights & MAY_EXECUTE)
        rule.allowed |= EXECUTE_FILE;
    if (wanted->rights & MAY_READ)
        rule.allowed |= READ_FILE | READ_FOLDER;
    if (wanted->rights & MAY_WRITE)
        rule.allowed |= ~(uint64_t)(EXECUTE_FILE | READ_FILE | READ_FOLDER);
    rule.allowed &= handled & (S_ISDIR(facts.st_mode) ? ~0ULL : (uint64_t)FILE_RIGHTS);
    if (rule.allowed)
        must((int)syscall(ADD_RULE, rules, 1, &rule, 0), "Landlock rule");
    close(rule.parent);
}

/* What the rules allow is all that is allowed: of executing, and with FENCE_FILES of reading and writing too. A kernel
 * without Landlock leaves the list-built view to hold executing; where there is none, nothing is started. Moving between
 * folders is refused by any rules that do not allow it.
 */
static void fence_files(const struct request *r)
{
    const struct rule moving = {.rights = MAY_WRITE, .path = {.at = "/", .length = 1}};
    int all = (r->flags & FENCE_FILES) != 0, version = (int)syscall(CREATE_RULESET, NULL, 0, 1);
    if (version < 0 && !all && (errno == ENOSYS || errno == EOPNOTSUPP))
        return;
    must(version, "Landlock");
    uint64_t handled = known_rights(version) & (all ? ~0ULL : EXECUTE_FILE | REFER);
    int rules = (int)syscall(CREATE_RULESET, &handled, sizeof handled, 0);
    must(rules, "Landlock");
    if (!all)
        add_rule(rules, handled, &moving);
    for (uint64_t i = 0; i < r->rules; i++)
        add_rule(rules, handled, &r->rule[i]);
    must((int)syscall(RESTRICT_SELF, rules, 0), "Landlock");
    close(rules);
}

static void filter_calls(const struct request *r)
{
    struct sock_fprog program = {(unsigned short)(r->filter.length / sizeof(struct sock_filter)),
                                 (struct sock_filter *)r->filter.at};
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0), "seccomp");
}

#endif
