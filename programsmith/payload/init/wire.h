/* The two wires of the init: the request that it reads, the records that it reports.
 *
 * Request: numbers are 64-bit little-endian; a byte string is its length and its bytes, followed by a NUL that the
 * length does not count; a list is its count and its items. Report: one tag byte, a 64-bit length, the payload.
 * Tags: S started, E errno of a failed exec, X end of the program, N one entry of the work directory,
 * U the work directory cannot be read whole, F fault of ours, Z report complete.
 */
#ifndef PS_WIRE_H
#define PS_WIRE_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ONE_CPU = 1, COLLECT = 2, WATCH = 4, EXEC_WORK = 8, WORKSPACE = 16, FENCE_EXEC = 32, FENCE_FILES = 64, TURN_CLOCK = 128,
       KEEP_TMP = 256 };
enum { MAY_EXECUTE = 1, MAY_READ = 2, MAY_WRITE = 4, SCRIPTS = 8 };
#define NOBODY UINT64_MAX

struct bytes {
    const char *at;
    uint64_t length;
};

struct cursor {
    const char *at, *end;
};

struct entry {
    uint64_t kind, mode; /* kind: 0 file, 1 directory, 2 link */
    struct bytes path, content;
};

struct limit {
    uint64_t resource, soft, hard;
};

struct rule {
    uint64_t rights;
    struct bytes path;
};

struct request {
    uint64_t flags, umask, work_bytes, work_files, cpu_us, memory, max_files, max_bytes, max_depth;
    uint64_t shared; /* with WATCH: by so much memory that is shared may grow on the host before this launch is suspected */
    uint64_t clock; /* seconds that the program's clock is ahead, in two's complement; counts with TURN_CLOCK */
    uint64_t limits, rules, files;
    uint64_t owner; /* the user that tells its processes and files from others', NOBODY where namespaces do */
    int stream[3];  /* what the program's standard streams are here */
    int control, children; /* with an owner: readable when the launcher wants an end, when a child has changed */
    struct limit *limit;
    struct bytes hidden, work, cwd, program, filter, hostname;
    char **argv, **env, **place; /* place: every directory that the program may write to, where those outlive it */
    struct rule *rule;
    struct entry *file;
};

static int status_fd = -1;

/* Write all of it; a reader that is gone ends the process. */
static void write_parts(struct iovec *next, int count)
{
    while (count > 0) {
        ssize_t done = writev(status_fd, next, count);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            _exit(1);
        for (; count > 0 && (size_t)done >= next->iov_len; next++, count--)
            done -= (ssize_t)next->iov_len;
        if (count > 0) {
            next->iov_base = (char *)next->iov_base + done;
            next->iov_len -= (size_t)done;
        }
    }
}

/* Small records wait for the next flush: each write wakes the reader up. */
static char kept[8192];
static size_t kept_size;

static void flush_reports(void)
{
    struct iovec all = {kept, kept_size};
    kept_size = 0;
    write_parts(&all, 1);
}

static void report(char tag, const struct iovec *parts, int count)
{
    struct iovec all[7] = {{kept, kept_size}};
    char head[9] = {tag};
    uint64_t length = 0;
    for (int i = 0; i < count; i++) {
        all[i + 2] = parts[i];
        length += parts[i].iov_len;
    }
    memcpy(head + 1, &length, 8);
    all[1] = (struct iovec){head, 9};
    if (kept_size + sizeof head + length > sizeof kept) {
        kept_size = 0;
        write_parts(all, count + 2);
        return;
    }
    for (int i = 1; i < count + 2; i++) {
        if (all[i].iov_len)
            memcpy(kept + kept_size, all[i].iov_base, all[i].iov_len);
        kept_size += all[i].iov_len;
    }
}

static void report_text(char tag, const char *text)
{
    struct iovec part = {(void *)text, strlen(text)};
    report(tag, &part, 1);
}

static void report_numbers(char tag, const uint64_t *numbers, int count)
{
    struct iovec part = {(void *)numbers, (size_t)count * 8};
    report(tag, &part, 1);
}

/* A fault of ours: say which step failed and end; the whole sandbox dies with its first process. */
static _Noreturn void fault(const char *step)
{
    const char *why = strerror(errno);
    struct iovec parts[] = {{(void *)step, strlen(step)}, {": ", 2}, {(void *)why, strlen(why)}};
    report('F', parts, 3);
    flush_reports();
    _exit(1);
}

static void must(int result, const char *step)
{
    if (result < 0)
        fault(step);
}

static uint64_t take_number(struct cursor *c)
{
    uint64_t value;
    if (c->end - c->at < 8) {
        errno = EBADMSG;
        fault("request");
    }
    memcpy(&value, c->at, 8);
    c->at += 8;
    return value;
}

static struct bytes take_bytes(struct cursor *c)
{
    struct bytes value = {NULL, take_number(c)};
    if (value.length >= (uint64_t)(c->end - c->at)) {
        errno = EBADMSG;
        fault("request");
    }
    value.at = c->at;
    c->at += value.length + 1;
    return value;
}

/* Room of one request: what is small, then what was taken for more. */
static struct {
    _Alignas(16) char few[16384];
    size_t used;
    struct further {
        _Alignas(16) struct further *next;
    } *further;
    char *mapped; /* the request itself, where it is large */
    size_t size;
} held;

/* Zeroed room for `count` things and one more, until `forget_request`. */
static void *take_room(uint64_t count, size_t size)
{
    size_t wanted = ((count + 1) * size + 15) / 16 * 16;
    if (count < sizeof held.few && wanted <= sizeof held.few - held.used) {
        held.used += wanted;
        return held.few + held.used - wanted;
    }
    struct further *room = count < SIZE_MAX / 2 / size ? calloc(1, sizeof *room + (count + 1) * size) : NULL;
    if (!room)
        fault("memory");
    room->next = held.further;
    held.further = room;
    return room + 1;
}

static char **take_strings(struct cursor *c)
{
    uint64_t count = take_number(c);
    char **all = take_room(count, sizeof *all);
    for (uint64_t i = 0; i < count; i++)
        all[i] = (char *)take_bytes(c).at;
    return all;
}

static void take_files(struct cursor *c, struct request *r)
{
    r->files = take_number(c);
    r->file = take_room(r->files, sizeof *r->file);
    for (uint64_t i = 0; i < r->files; i++) {
        struct entry *e = &r->file[i];
        e->kind = take_number(c);
        e->mode = take_number(c);
        e->path = take_bytes(c);
        e->content = take_bytes(c);
    }
}

/* The whole content of a file of ours, for reading. The descriptor is closed. */
static struct cursor take_content(int fd)
{
    static char few[16384]; /* most requests are small, and reading is cheaper than mapping */
    struct stat facts;
    must(fstat(fd, &facts), "request");
    size_t size = (size_t)facts.st_size;
    char *at = few;
    if (size > sizeof few)
        at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    else if (pread(fd, few, size, 0) != (ssize_t)size)
        fault("request");
    if (at == MAP_FAILED)
        fault("request");
    if (at != few)
        held.mapped = at, held.size = size;
    close(fd);
    return (struct cursor){at, at + size};
}

static struct request take_request(int fd)
{
    struct request r = {.owner = NOBODY, .stream = {0, 1, 2}, .control = -1, .children = -1};
    struct cursor c = take_content(fd);
    uint64_t *numbers[] = {&r.flags, &r.umask, &r.work_bytes, &r.work_files, &r.cpu_us,
                           &r.memory, &r.max_files, &r.max_bytes, &r.max_depth, &r.shared, &r.clock};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = take_number(&c);
    r.limits = take_number(&c);
    r.limit = take_room(r.limits, sizeof *r.limit);
    for (uint64_t i = 0; i < r.limits; i++) {
        r.limit[i].resource = take_number(&c);
        r.limit[i].soft = take_number(&c);
        r.limit[i].hard = take_number(&c);
    }
    struct bytes *strings[] = {&r.hidden, &r.work, &r.cwd, &r.program, &r.filter, &r.hostname};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        *strings[i] = take_bytes(&c);
    r.argv = take_strings(&c);
    r.env = take_strings(&c);
    r.rules = take_number(&c);
    r.rule = take_room(r.rules, sizeof *r.rule);
    for (uint64_t i = 0; i < r.rules; i++) {
        r.rule[i].rights = take_number(&c);
        r.rule[i].path = take_bytes(&c);
    }
    r.place = take_strings(&c);
    take_files(&c, &r);
    return r;
}

#endif
