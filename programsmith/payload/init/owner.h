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

/* Kill every process of the launch but this one: all that there are in a pid namespace, else all of the user. */
static void kill_all(const struct request *r)
{
    if (r->owner == NOBODY) {
        kill(-1, SIGKILL);
        return;
    }
    pid_t killer = vfork();
    must(killer, "fork");
    if (!killer) {
        become_owner(r);
        kill(-1, SIGKILL);
        _exit(0);
    }
    while (waitpid(killer, NULL, 0) < 0 && errno == EINTR)
        ;
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
    if (facts.st_uid == r->owner)
        must(fchmod(fd, 0755), place);
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

/* Nothing of the launch stays in the places that outlive it. No process of it is left when this is called. */
static void empty_places(const struct request *r)
{
    int ended = 0;
    pid_t cleaner = fork();
    must(cleaner, "fork");
    if (!cleaner) {
        become_owner(r);
        for (char **place = r->place; *place; place++)
            empty_place(r, *place);
        _exit(0);
    }
    while (waitpid(cleaner, &ended, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(ended) || WEXITSTATUS(ended))
        _exit(1); /* it has said why */
}

#endif
