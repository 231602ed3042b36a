/* The work directory: laid down before the program starts, read back when every process is dead.
 *
 * The walk back follows nothing, opens regular files only, holds one descriptor per level and has caps on entries,
 * bytes and depth, so that no tree that a program can leave makes it fail or loop.
 */
#ifndef PS_TREE_H
#define PS_TREE_H

#include "wire.h"

#include <dirent.h>
#include <fcntl.h>

enum { FILE_KIND = 0, DIR_KIND = 1, LINK_KIND = 2, OTHER_KIND = 3, NAME_ROOM = 256 };

/* All entries get one time, so that directory listings say nothing about the moment of the launch. */
static const struct timespec laid_times[2] = {{1577836800, 0}, {1577836800, 0}};

static void make_parents(int work, const struct bytes *path)
{
    char *name = strdup(path->at);
    if (!name)
        fault("memory");
    for (char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdirat(work, name, 0755) < 0 && errno != EEXIST)
            fault("parent directory of a case file");
        *slash = '/';
    }
    free(name);
}

static void write_file(int work, const struct entry *e)
{
    int fd = openat(work, e->path.at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    must(fd, "case file");
    for (uint64_t done = 0; done < e->content.length;) {
        ssize_t n = write(fd, e->content.at + done, e->content.length - done);
        if (n < 0 && errno == EINTR)
            continue;
        must((int)(n < 0 ? -1 : 0), "case file");
        done += (uint64_t)n;
    }
    must(fchmod(fd, (mode_t)e->mode), "mode of a case file");
    close(fd);
}

/* Whatever is in a directory has the longer path, so that one that gets shut does not shut anything out. */
static int deepest_first(const void *one, const void *other)
{
    uint64_t a = ((const struct entry *)one)->path.length, b = ((const struct entry *)other)->path.length;
    return (a < b) - (a > b);
}

static void lay_files(const struct request *r)
{
    int work = open(r->work.at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(work, "work directory");
    for (uint64_t i = 0; i < r->files; i++) {
        const struct entry *e = &r->file[i];
        make_parents(work, &e->path);
        if (e->kind == FILE_KIND)
            write_file(work, e);
        else if (e->kind == LINK_KIND)
            must(symlinkat(e->content.at, work, e->path.at), "case link");
        else if (mkdirat(work, e->path.at, 0755) < 0 && errno != EEXIST)
            fault("case directory");
    }
    for (uint64_t i = 0; i < r->files; i++)
        must(utimensat(work, r->file[i].path.at, laid_times, AT_SYMLINK_NOFOLLOW), "time of a case file");
    qsort(r->file, r->files, sizeof *r->file, deepest_first);
    for (uint64_t i = 0; i < r->files; i++)
        if (r->file[i].kind == DIR_KIND)
            must(fchmodat(work, r->file[i].path.at, (mode_t)r->file[i].mode, 0), "mode of a case directory");
    futimens(work, laid_times);
    close(work);
}

struct walk {
    DIR **level;    /* open directories, outermost first */
    size_t *length; /* length of the path of each level */
    size_t depth;   /* levels in use */
    char *path;
    uint64_t files, bytes;
    const char *stop; /* why the walk ended early */
};

static void report_entry(const struct walk *w, uint64_t kind, uint64_t mode, size_t length, struct bytes content)
{
    uint64_t head[3] = {kind, mode & 07777, length};
    struct iovec parts[] = {{head, sizeof head}, {w->path, length}, {(void *)content.at, content.length}};
    report('N', parts, 3);
}

static void read_file(struct walk *w, int fd, const struct stat *facts, size_t length)
{
    uint64_t size = (uint64_t)facts->st_size;
    char *room = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    if (room == MAP_FAILED)
        w->stop = "a file cannot be read";
    else
        report_entry(w, FILE_KIND, facts->st_mode, length, (struct bytes){room, size});
    if (size && room != MAP_FAILED)
        munmap(room, size);
}

static void visit_file(struct walk *w, const struct request *r, int at, const char *name, size_t length)
{
    struct stat facts;
    int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &facts) < 0 || !S_ISREG(facts.st_mode))
        w->stop = "a file cannot be read";
    else if ((w->bytes += (uint64_t)facts.st_size) > r->max_bytes || (uint64_t)facts.st_size > r->max_bytes)
        w->stop = "too many bytes";
    else
        read_file(w, fd, &facts, length);
    if (fd >= 0)
        close(fd);
}

static void visit_dir(struct walk *w, const struct request *r, int at, const char *name, size_t length)
{
    if (w->depth >= r->max_depth) {
        w->stop = "too deep";
        return;
    }
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        w->stop = "a directory cannot be read";
        return;
    }
    w->level[w->depth] = dir;
    w->length[w->depth++] = length;
}

static void visit(struct walk *w, const struct request *r, const char *name)
{
    struct stat facts;
    char target[4097];
    int at = dirfd(w->level[w->depth - 1]);
    size_t length = w->length[w->depth - 1];
    if (length)
        w->path[length++] = '/';
    memcpy(w->path + length, name, strlen(name));
    length += strlen(name);
    if (++w->files > r->max_files)
        w->stop = "too many entries";
    else if (fstatat(at, name, &facts, AT_SYMLINK_NOFOLLOW) < 0)
        w->stop = "an entry cannot be read";
    else if (S_ISREG(facts.st_mode))
        visit_file(w, r, at, name, length);
    else if (S_ISDIR(facts.st_mode)) {
        report_entry(w, DIR_KIND, facts.st_mode, length, (struct bytes){NULL, 0});
        visit_dir(w, r, at, name, length);
    } else if (S_ISLNK(facts.st_mode)) {
        ssize_t size = readlinkat(at, name, target, sizeof target);
        report_entry(w, LINK_KIND, 0777, length, (struct bytes){target, size < 0 ? 0 : (uint64_t)size});
    } else
        report_entry(w, OTHER_KIND, facts.st_mode, length, (struct bytes){NULL, 0});
}

static void collect(const struct request *r)
{
    struct walk w = {.level = take_room(r->max_depth, sizeof *w.level),
                     .length = take_room(r->max_depth, sizeof *w.length),
                     .path = take_room((r->max_depth + 1) * NAME_ROOM, 1)};
    visit_dir(&w, r, AT_FDCWD, r->work.at, 0);
    while (w.depth && !w.stop) {
        struct dirent *item = readdir(w.level[w.depth - 1]);
        if (!item)
            closedir(w.level[--w.depth]);
        else if (strcmp(item->d_name, ".") && strcmp(item->d_name, ".."))
            visit(&w, r, item->d_name);
    }
    while (w.depth)
        closedir(w.level[--w.depth]);
    if (w.stop)
        report_text('U', w.stop);
}

#endif
