/* How much the places hold that a program may write to, where they outlive it or another bounds them.
 *
 * A place that is a file system of its own, no larger than the limits, says by itself when it is full. Any other is
 * walked now and then, a twentieth of the time at most, and at the end; deeper than the walk goes counts as too much.
 */
#ifndef PS_ROOM_H
#define PS_ROOM_H

#include "wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <time.h>

enum { LEVELS = 128, SHARE = 20, SPARE_ENTRIES = 8, BLOCK = 512 };

struct counted {
    uint64_t bytes, files;
};

static int64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Count what lies below an open directory, which is closed here; not 0 where that is too much already. */
static int count_below(const struct request *r, int fd, int level, struct counted *held)
{
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    int over = 0;
    if (!dir)
        return fd < 0 && errno != ENOENT && errno != EACCES;
    for (struct dirent *item; !over && (item = readdir(dir));) {
        struct stat facts;
        if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, ".."))
            continue;
        if (fstatat(fd, item->d_name, &facts, AT_SYMLINK_NOFOLLOW) < 0 || facts.st_uid != r->owner)
            continue;
        held->bytes += (uint64_t)facts.st_blocks * BLOCK;
        over = ++held->files > r->work_files || held->bytes > r->work_bytes;
        if (!over && S_ISDIR(facts.st_mode))
            over = level >= LEVELS || count_below(r, openat(fd, item->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
                                                                                  O_CLOEXEC), level + 1, held);
    }
    closedir(dir);
    return over;
}

/* Whether a place is bounded by itself; `full` then says whether it is full. */
static int is_bounded(const struct request *r, const char *place, int *full)
{
    struct statvfs room;
    if (statvfs(place, &room) < 0)
        return 0;
    *full = !room.f_bfree || !room.f_ffree;
    return room.f_blocks && room.f_files && room.f_blocks <= (r->work_bytes + room.f_frsize - 1) / room.f_frsize &&
           room.f_files <= r->work_files + SPARE_ENTRIES;
}

static int64_t next_walk; /* through the places of this launch */

/* Whether the places hold more than they may; unless `now`, the last answer where they were looked at lately. */
static int outgrown(const struct request *r, int now)
{
    struct counted held = {0};
    int full = 0, over = 0;
    int64_t begun = nanoseconds();
    if (!*r->place || (!now && begun < next_walk))
        return 0;
    for (char **place = r->place; *place && !over; place++)
        over = is_bounded(r, *place, &full) ? now && full
                                            : count_below(r, open(*place, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0, &held);
    int64_t ended = nanoseconds();
    next_walk = ended + (ended - begun) * SHARE;
    return over;
}

#endif
