/* Where no namespace tells a launch's processes and files from others', a user that nobody else is does.
 *
 * Root may signal everyone, so whatever ends or removes what a launch left becomes that user first.
 */
#ifndef PS_OWNER_H
#define PS_OWNER_H

#include "wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

/* A signal to everyone that root sends reaches everyone, so this is sure of whom it has become. */
static void become_owner(const struct request *r)
{
    uid_t id = (uid_t)r->owner, real = 0, effective = 0, saved = 0;
    must(setgroups(0, NULL), "groups");
    must(setresgid(id, id, id), "group");
    must(setresuid(id, id, id), "user");
    must(getresuid(&real, &effective, &saved), "user");
    if (!id || id != r->owner || real != id || effective != id || saved != id) {
        errno = EINVAL;
        fault("user");
    }
}

/* Wait for a process that became the user; whether something killed it. Those that it is to kill may stop it. */
static int was_killed(pid_t killer)
{
    for (int ended;;)
        if (waitpid(killer, &ended, WUNTRACED) < 0) {
            if (errno != EINTR)
                fault("wait");
        } else if (WIFSTOPPED(ended))
            kill(killer, SIGCONT);
        else
            return WIFSIGNALED(ended);
}

/* Kill every process of the launch but this one: all that there are in a pid namespace, else all of the user. They may
 * signal who comes to kill them as well: this one goes on, and sends another, until one was faster.
 */
static void kill_all(const struct request *r)
{
    if (r->owner == NOBODY) {
        kill(-1, SIGKILL);
        return;
    }
    pid_t killer;
    do {
        killer = fork(); /* who borrows this one's memory would stop it, too */
        must(killer, "fork");
        if (!killer) {
            become_owner(r);
            kill(-1, SIGKILL);
            _exit(0);
        }
    } while (was_killed(killer));
}

/* Move what lies in the directory `name` up into `top`, without its files; then it can be removed. */
static void lift(int top, const char *name)
{
    static unsigned number;
    char fresh[16];
    must(fchmodat(top, name, 0700, 0), "removing a directory");
    int fd = openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir)
        fault("removing a directory");
    for (struct dirent *item; (item = readdir(dir));) {
        if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, "..") || unlinkat(fd, item->d_name, 0) == 0)
            continue;
        must(fchmodat(fd, item->d_name, 0700, 0), "removing a directory"); /* its parent is an entry of its own */
        do
            snprintf(fresh, sizeof fresh, "%u", number++);
        while (renameat2(fd, item->d_name, top, fresh, RENAME_NOREPLACE) < 0 && errno == EEXIST);
    }
    closedir(dir);
    unlinkat(top, name, AT_REMOVEDIR);
}

/* Whether the user wrote something beside what lies in a place: attributes of it, or by them who else may do what. With
 * `remove` they go.
 */
static int has_attributes(int fd, int remove)
{
    static char names[1 << 16]; /* as many as a file can have */
    ssize_t size = flistxattr(fd, names, sizeof names);
    int found = 0;
    for (ssize_t at = 0; at < size; at += (ssize_t)strlen(names + at) + 1) {
        if (strncmp(names + at, "user.", 5) && strncmp(names + at, "system.posix_acl_", 17))
            continue;
        found = 1;
        if (remove)
            must(fremovexattr(fd, names + at), "removing an attribute");
    }
    return found;
}

/* Remove what the user has in a place, however deep: no more than two directories are open at a time. */
static void empty_place(const struct request *r, const char *place)
{
    int fd = open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), found = 1;
    if (fd < 0 && errno == EACCES && chmod(place, 0700) == 0)
        fd = open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct stat facts;
    if (!dir)
        fault(place);
    must(fstat(fd, &facts), place);
    if (facts.st_uid == r->owner) {
        must(fchmod(fd, 0755), place); /* first: removing them takes the right to write */
        has_attributes(fd, 1);
    }
    for (unsigned long tries = 0; found; rewinddir(dir), tries++) {
        found = 0;
        for (struct dirent *item; (item = readdir(dir));) {
            if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, ".."))
                continue;
            if (fstatat(fd, item->d_name, &facts, AT_SYMLINK_NOFOLLOW) < 0 || facts.st_uid != r->owner)
                continue;
            found = 1;
            if (S_ISDIR(facts.st_mode))
                lift(fd, item->d_name);
            else
                must(unlinkat(fd, item->d_name, 0), "removing a file");
        }
        if (tries > 100000) {
            errno = ELOOP;
            fault(place);
        }
    }
    closedir(dir);
}

/* Whether a place is as it was made: nothing lies in it or sticks to it. */
static int is_as_made(const struct request *r, const char *place)
{
    _Alignas(struct dirent64) char room[1024];
    int fd = open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), entries = 0;
    struct stat facts;
    if (fd < 0)
        return 0;
    must(fstat(fd, &facts), place);
    for (ssize_t size; entries <= 2 && (size = getdents64(fd, room, sizeof room)) > 0;)
        for (ssize_t at = 0; at < size; at += ((struct dirent64 *)(room + at))->d_reclen)
            entries++;
    int own = facts.st_uid == r->owner;
    int changed = own && ((facts.st_mode & 07777) != 0755 || has_attributes(fd, 0));
    close(fd);
    return entries == 2 && !changed;
}

/* Become the places' user, empty them and end. */
static _Noreturn void empty_as_owner(const struct request *r, char *const *place)
{
    become_owner(r);
    for (; *place; place++)
        empty_place(r, *place);
    _exit(0);
}

/* In a process that borrows this one's memory until it ends. */
static void clean(const struct request *r, char *const *place)
{
    int ended = 0;
    pid_t cleaner = vfork();
    must(cleaner, "fork");
    if (!cleaner)
        empty_as_owner(r, place);
    while (waitpid(cleaner, &ended, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(ended) || WEXITSTATUS(ended))
        _exit(1); /* it has said why */
}

/* Nothing of the launch stays in the places that outlive it. No process of it is left when this is called. */
static void empty_places(const struct request *r)
{
    char **place = r->place;
    while (*place && is_as_made(r, *place))
        place++;
    if (*place)
        clean(r, place);
}

#endif
