/* Which files a program opens, lists or asks for: its system calls are announced to us before they happen (seccomp user
 * notification), and what a path holds is logged then, once. A path that cannot be read is none of a case.
 */
#ifndef PS_TRACE_H
#define PS_TRACE_H

#include "config.h"

#include <dirent.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { ASKED = 1, OPENED = 2, LISTED = 4 };
enum { FILE_KIND, FOLDER_KIND, LINK_KIND, SPECIAL_KIND, ABSENT_KIND, LARGE_KIND };
enum { MOST_NOTED = 8192, MOST_LISTED = 2000, MOST_LINKS = 8 };

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#error "no table of calls for this machine"
#endif

/* Which arguments hold a path and the folder it starts at (-1: the current one; path -1: the descriptor alone). */
static const struct call {
    int number, how, folder, path;
} calls[] = {
#ifdef SYS_open
    {SYS_open, OPENED, -1, 0},      {SYS_creat, OPENED, -1, 0},    {SYS_stat, ASKED, -1, 0},
    {SYS_lstat, ASKED, -1, 0},      {SYS_access, ASKED, -1, 0},    {SYS_readlink, ASKED, -1, 0},
    {SYS_unlink, OPENED, -1, 0},    {SYS_rmdir, LISTED, -1, 0},    {SYS_mkdir, ASKED, -1, 0},
    {SYS_rename, OPENED, -1, 0},    {SYS_rename, OPENED, -1, 1},   {SYS_link, OPENED, -1, 0},
    {SYS_link, ASKED, -1, 1},       {SYS_symlink, ASKED, -1, 1},   {SYS_chmod, OPENED, -1, 0},
    {SYS_utime, OPENED, -1, 0},     {SYS_utimes, OPENED, -1, 0},   {SYS_getdents, LISTED, 0, -1},
#endif
    {SYS_openat, OPENED, 0, 1},     {SYS_newfstatat, ASKED, 0, 1}, {SYS_statx, ASKED, 0, 1},
    {SYS_faccessat, ASKED, 0, 1},   {SYS_readlinkat, ASKED, 0, 1}, {SYS_unlinkat, OPENED, 0, 1},
    {SYS_mkdirat, ASKED, 0, 1},     {SYS_renameat, OPENED, 0, 1},  {SYS_renameat, OPENED, 2, 3},
    {SYS_linkat, OPENED, 0, 1},     {SYS_linkat, ASKED, 2, 3},     {SYS_symlinkat, ASKED, 1, 2},
    {SYS_fchmodat, OPENED, 0, 1},   {SYS_utimensat, OPENED, 0, 1}, {SYS_truncate, OPENED, -1, 0},
    {SYS_chdir, ASKED, -1, 0},      {SYS_statfs, ASKED, -1, 0},    {SYS_execve, OPENED, -1, 0},
    {SYS_getxattr, ASKED, -1, 0},   {SYS_getdents64, LISTED, 0, -1},
#ifdef SYS_renameat2
    {SYS_renameat2, OPENED, 0, 1},  {SYS_renameat2, OPENED, 2, 3},
#endif
    {437 /* openat2 */, OPENED, 0, 1}, {439 /* faccessat2 */, ASKED, 0, 1},
};
enum { CALLS = sizeof calls / sizeof *calls };

static char *noted[MOST_NOTED * 2];
static int notes;
static size_t noted_bytes;

/* Whether the path is new; it is remembered with a mark for listing, which may come after another use. */
static int remember(const char *path, char mark)
{
    uint64_t sum = 14695981039346656037u ^ (unsigned char)mark;
    for (const char *c = path; *c; c++)
        sum = (sum ^ (unsigned char)*c) * 1099511628211u;
    size_t at = sum % (MOST_NOTED * 2);
    for (; noted[at]; at = (at + 1) % (MOST_NOTED * 2))
        if (noted[at][0] == mark && !strcmp(noted[at] + 1, path))
            return 0;
    if (notes >= MOST_NOTED) {
        say_word("fixture_too_large");
        return 0;
    }
    size_t length = strlen(path);
    noted[at] = malloc(length + 2);
    if (!noted[at])
        give_up("memory");
    noted[at][0] = mark;
    memcpy(noted[at] + 1, path, length + 1);
    notes++;
    return 1;
}

static int is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return !strncmp(path, folder, length) && (!path[length] || path[length] == '/');
}

static int is_ours(const char *path)
{
    int found = 0;
    for (int i = 0; i < told.roots; i++)
        found |= is_below(path, told.root[i]);
    for (int i = 0; i < told.owns; i++)
        found &= !is_below(path, told.own[i]);
    return found;
}

static void log_entry(const char *path, uint64_t how, uint64_t kind, uint64_t mode, const void *content, size_t length)
{
    struct text entry = {0};
    size_t named = strlen(path);
    append_number(&entry, how);
    append_number(&entry, kind);
    append_number(&entry, mode);
    append_number(&entry, named);
    append(&entry, path, named);
    append(&entry, content, length);
    say('F', entry.at, entry.length);
    free(entry.at);
}

static void log_file(const char *path, int how, const struct stat *facts)
{
    struct text content = {0};
    char part[65536];
    ssize_t got = 0;
    struct stat now;
    int fd = -1;
    if ((size_t)facts->st_size <= told.cap && noted_bytes + (size_t)facts->st_size <= 4 * told.cap)
        fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    else if (how != ASKED)
        say_word("fixture_too_large");
    if (fd >= 0 && fstat(fd, &now) == 0 && S_ISREG(now.st_mode))
        while (content.length <= told.cap && (got = read(fd, part, sizeof part)) > 0)
            append(&content, part, (size_t)got);
    int whole = fd >= 0 && got == 0 && content.length <= told.cap;
    if (fd >= 0)
        close(fd);
    noted_bytes += content.length;
    log_entry(path, (uint64_t)how, whole ? FILE_KIND : LARGE_KIND, facts->st_mode & 07777, content.at, whole ? content.length : 0);
    free(content.at);
}

static void log_names(const char *path)
{
    char inner[PATH_MAX];
    struct dirent *item;
    struct stat facts;
    int listed = 0;
    DIR *folder = is_ours(path) && remember(path, 'l') ? opendir(path) : NULL;
    while (folder && (item = readdir(folder))) {
        if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, ".."))
            continue;
        if (++listed > MOST_LISTED) {
            say_word("fixture_too_large");
            break;
        }
        if (snprintf(inner, sizeof inner, "%s/%s", path, item->d_name) >= (int)sizeof inner || lstat(inner, &facts) < 0)
            continue;
        if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode))
            continue; /* a link among names is met when it is used */
        log_entry(inner, LISTED, S_ISDIR(facts.st_mode) ? FOLDER_KIND : FILE_KIND, facts.st_mode & 07777, "", 0);
    }
    if (folder)
        closedir(folder);
}

/* What the path holds now: the first look counts, for the program may change it afterwards. */
static void note(const char *path, int how, int links)
{
    char target[PATH_MAX], whole[PATH_MAX * 2], resolved[PATH_MAX];
    struct stat facts;
    ssize_t length;
    if (!is_ours(path))
        return;
    int first = remember(path, 'f');
    if (!first && how == ASKED)
        return;
    if (lstat(path, &facts) < 0) {
        if (first) {
            log_entry(path, (uint64_t)how, ABSENT_KIND, 0, "", 0);
            snprintf(whole, sizeof whole, "%.*s", (int)(base_of(path) - path - 1), path);
            note(whole, ASKED, links); /* it may be made there */
        }
    } else if (S_ISREG(facts.st_mode)) {
        if (first)
            log_file(path, how, &facts);
    } else if (S_ISDIR(facts.st_mode)) {
        if (first)
            log_entry(path, (uint64_t)how, FOLDER_KIND, facts.st_mode & 07777, "", 0);
        if (how & LISTED)
            log_names(path);
    } else if (S_ISLNK(facts.st_mode)) {
        length = readlink(path, target, sizeof target - 1);
        if (length < 0 || links >= MOST_LINKS)
            return;
        target[length] = 0;
        if (first)
            log_entry(path, (uint64_t)how, LINK_KIND, 0777, target, (size_t)length);
        snprintf(whole, sizeof whole, "%.*s/%s", (int)(base_of(path) - path), path, target);
        if (realpath(target[0] == '/' ? target : whole, resolved))
            note(resolved, how, links + 1);
    } else if (first)
        log_entry(path, (uint64_t)how, SPECIAL_KIND, 0, "", 0);
}

/* A path without `.`, `..` and double slashes; links in its folders stay as they are named. */
static void tidy(char *path)
{
    char *out = path, *in = path;
    while (*in) {
        while (*in == '/')
            in++;
        size_t length = strcspn(in, "/");
        if (length == 2 && !strncmp(in, "..", 2)) {
            while (out > path && *--out != '/')
                ;
        } else if (length && !(length == 1 && *in == '.')) {
            *out++ = '/';
            memmove(out, in, length);
            out += length;
        }
        in += length;
    }
    if (out == path)
        *out++ = '/';
    *out = 0;
}

/* The text at an address of the program, whole or not at all. */
static int read_text(int pid, uint64_t address, char *into, size_t room)
{
    char name[64];
    size_t length = 0;
    snprintf(name, sizeof name, "/proc/%d/mem", pid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return say_word("untraceable"), 0;
    while (length < room) {
        size_t want = 4096 - (address + length) % 4096;
        ssize_t got = pread(fd, into + length, want < room - length ? want : room - length, (off_t)(address + length));
        if (got <= 0)
            break;
        if (memchr(into + length, 0, (size_t)got))
            return close(fd), 1;
        length += (size_t)got;
    }
    return close(fd), 0;
}

static int read_place(int pid, int fd, char *into)
{
    char name[64];
    if (fd == AT_FDCWD)
        snprintf(name, sizeof name, "/proc/%d/cwd", pid);
    else
        snprintf(name, sizeof name, "/proc/%d/fd/%d", pid, fd);
    ssize_t length = readlink(name, into, PATH_MAX - 1);
    into[length > 0 ? length : 0] = 0;
    return length > 0 && into[0] == '/';
}

static void meet(const struct seccomp_notif *met, const struct call *call)
{
    char place[PATH_MAX], named[PATH_MAX], whole[PATH_MAX * 2];
    const __u64 *given = met->data.args;
    int how = call->how;
    if (call->path < 0) {
        if (read_place((int)met->pid, (int)given[call->folder], place))
            note(place, how, 0);
        return;
    }
    if (!read_text((int)met->pid, given[call->path], named, sizeof named))
        return;
    if (!named[0])
        return; /* asks about a descriptor that is open already */
    if (named[0] == '/')
        snprintf(whole, sizeof whole, "%s", named);
    else if (read_place((int)met->pid, call->folder < 0 ? AT_FDCWD : (int)given[call->folder], place))
        snprintf(whole, sizeof whole, "%s/%s", place, named);
    else
        return;
    tidy(whole);
    if (strlen(whole) < PATH_MAX)
        note(whole, how, 0);
}

/* Answer one announcement: whatever was asked goes on. */
static void serve(int listener)
{
    struct seccomp_notif met;
    struct seccomp_notif_resp answer;
    memset(&met, 0, sizeof met);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &met) < 0)
        return;
    for (int i = 0; i < CALLS; i++)
        if (calls[i].number == met.data.nr)
            meet(&met, &calls[i]);
    memset(&answer, 0, sizeof answer);
    answer.id = met.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Announce this process's calls from here on; a descriptor, or -1 (EBUSY: they are announced to another recorder). */
static int announce(void)
{
    struct sock_filter code[CALLS + 6];
    int n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 0, CALLS + 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < CALLS; i++)
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, (unsigned char)(CALLS - i), 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    struct sock_fprog program = {(unsigned short)n, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

#endif
