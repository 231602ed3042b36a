/* What a launch server is told once: its user, the groups to join, and the part of the root that no launch changes.
 *
 * Numbers `confined`, `owner` and `inside`; then lists: control group files, links (path, target), empty directories,
 * binds, places. Not 0 `confined`: no namespace is made, launches are told apart by `owner`, and the places are every
 * directory that one of them may write to. `owner` is who launches are outside, where root starts the server; NOBODY where an ordinary user does. `inside` is the user that a program sees.
 */
#ifndef PS_SETUP_H
#define PS_SETUP_H

#include "../init/wire.h"

enum { READ_ONLY = 0, WRITABLE = 1, DEVICE = 2 }; /* kinds of a bind */

struct bind {
    uint64_t writable;
    struct bytes source, target;
};

struct setup {
    uint64_t confined, owner, inside, binds;
    char **join, **link, **dir, **place;
    struct bind *bind;
};

static struct bind *take_binds(struct cursor *c, uint64_t *count)
{
    *count = take_number(c);
    struct bind *all = take_room(*count, sizeof *all);
    for (uint64_t i = 0; i < *count; i++) {
        all[i].writable = take_number(c);
        all[i].source = take_bytes(c);
        all[i].target = take_bytes(c);
    }
    return all;
}

static struct setup take_setup(int fd)
{
    struct setup s = {0};
    struct cursor c = take_content(fd);
    s.confined = take_number(&c);
    s.owner = take_number(&c);
    s.inside = take_number(&c);
    s.join = take_strings(&c);
    s.link = take_strings(&c);
    s.dir = take_strings(&c);
    s.bind = take_binds(&c, &s.binds);
    s.place = take_strings(&c);
    return s;
}

#endif
