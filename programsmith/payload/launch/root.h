/* The root that launches see: a skeleton in a mount namespace of the server, completed in each launch's copy of it.
 *
 * The server has two mount namespaces: the host's tree, only ever looked at, and one that holds nothing but the
 * skeleton. A launch is born with a copy of the second and adds what is its alone: the work directory and /proc. What
 * cases of one kind share (the submission's tree, say) the server shows in the skeleton and leaves there until a launch
 * asks for something else.
 */
#ifndef PS_ROOT_H
#define PS_ROOT_H

#include "../init/fence.h"
#include "setup.h"

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
enum { OPEN_TREE = 428, MOVE_MOUNT = 429, MOUNT_SETATTR = 442 };
enum { TREE_CLONE = 1, FROM_EMPTY_PATH = 4, TO_THROUGH_LINKS = 0x10 };
enum { ATTR_READ_ONLY = 1, ATTR_NOSUID = 2, ATTR_NODEV = 4, ATTR_NOEXEC = 8 };

struct attributes {
    uint64_t set, clear, propagation, user;
};

/* What was added to the skeleton for the launches of one kind: files and directories, then mounts; newest last. */
struct added {
    struct {
        char *path;
        int mounted;
    } *item;
    size_t count, room;
};

struct mounts {
    int host, own; /* the two mount namespaces */
};

static void note(struct added *all, const char *path, int mounted)
{
    if (all->count == all->room) {
        all->room = all->room * 2 + 16;
        all->item = realloc(all->item, all->room * sizeof *all->item);
    }
    char *copy = strdup(path);
    if (!all->item || !copy)
        fault("memory");
    all->item[all->count].path = copy;
    all->item[all->count++].mounted = mounted;
}

static void take_back(struct added *all)
{
    while (all->count) {
        const char *path = all->item[--all->count].path;
        if ((all->item[all->count].mounted ? umount2(path, MNT_DETACH) : remove(path)) < 0)
            fault(path);
        free(all->item[all->count].path);
    }
}

/* Make a place for a mount, with the directories above it; what exists stays as it is. */
static void make_place(const char *inside, int folder, struct added *made)
{
    char *path = strdup(inside);
    if (!path)
        fault("memory");
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(path, 0755) == 0)
            note(made, path, 0);
        else if (errno != EEXIST)
            fault(inside);
        *slash = '/';
    }
    if ((folder ? mkdir(path, 0755) : mknod(path, S_IFREG | 0644, 0)) == 0)
        note(made, path, 0);
    else if (errno != EEXIST)
        fault(inside);
    free(path);
}

/* A copy of what is mounted at `source`, not yet shown anywhere. */
static int copy_tree(const char *source, uint64_t kind)
{
    const uint64_t attributes[] = {ATTR_READ_ONLY | ATTR_NOSUID | ATTR_NODEV, ATTR_NOSUID | ATTR_NODEV,
                                   ATTR_NOSUID | ATTR_NOEXEC};
    struct attributes wanted = {.set = attributes[kind]};
    int tree = (int)syscall(OPEN_TREE, AT_FDCWD, source, TREE_CLONE | O_CLOEXEC | (unsigned)AT_RECURSIVE);
    must(tree, source);
    must((int)syscall(MOUNT_SETATTR, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &wanted, sizeof wanted), source);
    return tree;
}

static void place_tree(int tree, const char *target)
{
    must((int)syscall(MOVE_MOUNT, tree, "", AT_FDCWD, target, FROM_EMPTY_PATH | TO_THROUGH_LINKS), target);
    close(tree);
}

/* Show what lies at `source` on the host; links in `target` lead nowhere but into the skeleton. */
static void show(const struct mounts *mounts, const char *source, uint64_t kind, const char *target, struct added *shown)
{
    must(setns(mounts->host, CLONE_NEWNS), "host");
    int tree = copy_tree(source, kind);
    must(setns(mounts->own, CLONE_NEWNS), "root");
    place_tree(tree, target);
    note(shown, target, 1);
}

static int is_folder(const char *path)
{
    struct stat facts;
    must(stat(path, &facts), path);
    return S_ISDIR(facts.st_mode);
}

/* Lay the skeleton out below /tmp. The trees are copied before a tmpfs hides what the host has there. */
static void build_skeleton(const struct setup *s)
{
    struct added kept = {0}; /* for good */
    char here[4096];
    int *tree = take_room(s->binds + 1, sizeof *tree), *folder = take_room(s->binds + 1, sizeof *folder);
    for (uint64_t i = 0; i < s->binds; i++) {
        tree[i] = copy_tree(s->bind[i].source.at, s->bind[i].writable);
        folder[i] = is_folder(s->bind[i].source.at);
    }
    int proc = s->owner == NOBODY ? copy_tree("/proc", DEVICE) : -1;
    must(mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755"), "root");
    for (char **path = s->dir; *path; path++) {
        snprintf(here, sizeof here, "/tmp%s", *path);
        make_place(here, 1, &kept);
    }
    for (uint64_t i = 0; i < s->binds; i++) {
        snprintf(here, sizeof here, "/tmp%s", s->bind[i].target.at);
        make_place(here, folder[i], &kept);
        place_tree(tree[i], here);
    }
    for (char **link = s->link; *link; link += 2) {
        snprintf(here, sizeof here, "/tmp%s", *link);
        must(symlink(link[1], here), *link);
    }
    if (proc >= 0) /* the kernel mounts a user's /proc only where another one is in sight */
        place_tree(proc, "/tmp/proc");
}

static int own_space(void)
{
    int fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    must(fd, "mount namespace");
    return fd;
}

/* Make the two mount namespaces; the server stays in its own. */
static struct mounts make_mounts(const struct setup *s)
{
    struct mounts mounts;
    must(mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL), "mount namespace");
    mounts.host = own_space();
    must(unshare(CLONE_NEWNS), "mount namespace");
    mounts.own = own_space();
    build_skeleton(s);
    must(chdir("/tmp"), "root");
    must((int)syscall(SYS_pivot_root, ".", "."), "root");
    must(umount2(".", MNT_DETACH), "root");
    must(chdir("/"), "root");
    return mounts;
}

/* One sized tmpfs carries the work directory, /tmp and /dev/shm, so that size and entry caps count them together. It is
 * mounted at the last of the three places that then shows a directory of it: taking a mount away costs a grace period.
 */
static void lay_writable(const struct setup *s, const struct request *r)
{
    const char *target[3] = {"/tmp", "/dev/shm", r->work.at};
    const char *base = r->flags & WORKSPACE ? target[1] : target[2];
    char options[64], from[4096];
    unsigned long flags = MS_NOSUID | MS_NODEV | (r->flags & EXEC_WORK ? 0 : MS_NOEXEC);
    snprintf(options, sizeof options, "size=%llu,nr_inodes=%llu", (unsigned long long)r->work_bytes,
             (unsigned long long)r->work_files + 4);
    must(mount("tmpfs", base, "tmpfs", flags, options), "work tmpfs");
    for (int i = 0; i < 3; i++) {
        snprintf(from, sizeof from, "%s/%s", base, writable[i]);
        must(mkdir(from, i == WORK ? 0755 : 01777), "work tmpfs");
        must(chown(from, (uid_t)s->owner, (gid_t)s->owner), "work tmpfs");
    }
    for (int i = 0; i < 3; i++) {
        if (!is_of_launch(r, i))
            continue;
        snprintf(from, sizeof from, "%s/%s", base, writable[i]);
        must(mount(from, target[i], NULL, MS_BIND, NULL), "bind of the work tmpfs");
    }
}

/* Complete the root of this launch and close it. */
static void complete_root(const struct setup *s, const struct request *r)
{
    struct attributes closed = {.set = ATTR_READ_ONLY};
    lay_writable(s, r);
    show_terminals(r);
    close_scripts(r);
    show_proc();
    must((int)syscall(MOUNT_SETATTR, AT_FDCWD, "/", 0, &closed, sizeof closed), "root");
}

#endif
