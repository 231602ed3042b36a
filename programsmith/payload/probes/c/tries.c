/* Answers a case exactly where the one thing can be done that its line of tries.txt names, so that the verifier's own
 * words tell what a case can do. Lines of tries.txt stand in the order of the cases of table.txt. Each try
 * leaves the work directory as it was, for it belongs to the answer. */
#define main look_up
#include "table.h"
#undef main

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define HOME "/app/submission"
#define STARTED "started by one that tries"
enum { MIB = 1 << 20, PAGE = 4096, NAME = 32, FILLING = 16 };

static const char *const USUAL = " app bin boot dev etc home lib lib32 lib64 libx32 logs media mnt opt proc root run sbin slots "
                                 "srv sys tmp usr var work ";
static const char *const CLOSED[] = {"/tests",          "/solution",   "/root",
                                     "/proc/1/environ", "/proc/1/mem", "/etc/shadow", NULL};
static const char *const SHUT = " work tmp shm proc slots null zero full tty ";

static int is_among(const char *words, const char *name)
{
    char word[300];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(words, word) != NULL;
}

static int lists(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), found = fd >= 0;
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder) {
        found = 0;
        for (struct dirent *item; (item = readdir(folder));)
            found |= strcmp(item->d_name, ".") && strcmp(item->d_name, "..");
        closedir(folder);
    } else if (fd >= 0) {
        close(fd);
    }
    return found;
}

/* Whether `does` holds of anything in a folder. */
static int any_in(const char *top, int (*does)(const char *path, const char *name))
{
    DIR *folder = opendir(top);
    char path[512];
    int found = 0;
    for (struct dirent *item; folder && !found && (item = readdir(folder));) {
        if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, ".."))
            continue;
        snprintf(path, sizeof path, "%s%s%s", top, top[1] ? "/" : "", item->d_name);
        found = does(path, item->d_name);
    }
    if (folder)
        closedir(folder);
    return found;
}

static int is_odd(const char *path, const char *name)
{
    return *name != '.' && !is_among(USUAL, name) && lists(path);
}

static int reads(void)
{
    for (const char *const *path = CLOSED; *path; path++)
        if (lists(*path))
            return 1;
    return any_in("/", is_odd);
}

static int takes(const char *path, const char *name)
{
    char place[600];
    if (is_among(SHUT, name))
        return 0;
    snprintf(place, sizeof place, "%s/left-by-a-case", path);
    int fd = open(place, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return 0;
    close(fd);
    unlink(place);
    return 1;
}

static int writes(void)
{
    return takes("", "/") || takes(HOME, "submission") || any_in("/", takes) || any_in("/var", takes) ||
           any_in("/dev", takes);
}

static const char *const LEFT[] = {"/tmp/left-by-a-case", "/dev/shm/left-by-a-case"};

/* Leaves a file in each of the case's own places, for whichever case comes next. */
static void leave(void)
{
    for (size_t at = 0; at < sizeof LEFT / sizeof *LEFT; at++)
        close(open(LEFT[at], O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static int finds(void)
{
    return !access(LEFT[0], F_OK) || !access(LEFT[1], F_OK);
}

static int is_another(const char *path, const char *name)
{
    char what[600];
    int number = atoi(name), found = 0;
    if (number < 2 || number == getpid())
        return 0;
    for (const char *const *part = (const char *const[]){"cmdline", "environ", "maps", NULL}; *part; part++) {
        snprintf(what, sizeof what, "%s/%s", path, *part);
        found |= lists(what);
    }
    return found;
}

static int others(void)
{
    return any_in("/proc", is_another);
}

static int privileged(void)
{
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    char *said = slurp(fd).at;
    close(fd);
    return !geteuid() || !strstr(said, "CapEff:\t0000000000000000\n") || !strstr(said, "NoNewPrivs:\t1\n") ||
           !strstr(said, "Seccomp:\t2\n");
}

static int starts(const char *path)
{
    int status = 0;
    pid_t child = fork();
    if (!child) {
        execl(path, path, STARTED, (char *)NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 99;
}

/* Whether a program can be put at `path` and executed there; it is gone afterwards. */
static int lies_and_starts(const char *path, struct bytes program)
{
    int copy = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    if (copy < 0)
        return 0;
    int found = write(copy, program.at, program.size) == (ssize_t)program.size && !close(copy) && starts(path);
    unlink(path);
    return found;
}

static int executes(void)
{
    char memory[NAME];
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct bytes program = slurp(self);
    close(self);
    if (lies_and_starts("/tmp/program-of-a-case", program) || lies_and_starts("./program-of-a-case", program))
        return 1;
    int held = (int)syscall(SYS_memfd_create, "program", 0);
    if (held < 0 || write(held, program.at, program.size) != (ssize_t)program.size)
        return 0;
    snprintf(memory, sizeof memory, "/proc/self/fd/%d", held);
    return starts(memory);
}

/* Whether a file can be put at `path` and mapped as code; it is gone afterwards. */
static int lies_and_maps(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return 0;
    int found = !ftruncate(file, PAGE) && mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) != MAP_FAILED;
    close(file);
    unlink(path);
    return found;
}

/* Whether code that a case wrote into a file can be brought to life. */
static int loads(void)
{
    return lies_and_maps("/tmp/code-of-a-case") || lies_and_maps("./code-of-a-case");
}

static int cpu(void)
{
    for (int count = 0; count < 6; count++) {
        if (!fork()) {
            while (clock() < CLOCKS_PER_SEC * 12 / 100)
                ;
            _exit(0);
        }
        wait(NULL);
    }
    return 1;
}

static int memory(void)
{
    int ready[2];
    char said;
    if (pipe(ready))
        return 0;
    for (int count = 0; count < 4; count++) {
        if (!fork()) {
            char *room = mmap(NULL, 40 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            for (long at = 0; room != MAP_FAILED && at < 40L * MIB; at += PAGE)
                room[at] = 1;
            if (room == MAP_FAILED || write(ready[1], room, 1) != 1)
                _exit(1);
            sleep(20);
            _exit(0);
        }
        if (read(ready[0], &said, 1) != 1)
            return 0;
    }
    usleep(300000);
    return 1;
}

static int processes(void)
{
    for (int count = 0; count < 40; count++) {
        pid_t child = fork();
        if (child < 0)
            return 0;
        if (!child) {
            sleep(20);
            _exit(0);
        }
    }
    return 1;
}

/* None of the files is too large by itself; they stay, so that whoever looks sees them. */
static int work(void)
{
    char *room = need(calloc(1, MIB)), name[NAME];
    int full = 1;
    for (int number = 0; number < FILLING; number++) {
        snprintf(name, sizeof name, "/tmp/filling%d", number);
        int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        full &= fd >= 0 && write(fd, room, MIB) == MIB;
        close(fd);
    }
    return full;
}

static int wall(void)
{
    usleep(2500000);
    return 1;
}

static int nothing(void)
{
    return 1;
}

static const struct {
    const char *name;
    int (*can)(void);
} TRIES[] = {{"nothing", nothing},     {"reads", reads},     {"writes", writes}, {"finds", finds},       {"others", others},
             {"privileged", privileged}, {"executes", executes}, {"cpu", cpu},       {"memory", memory},
             {"processes", processes}, {"work", work},       {"wall", wall},     {"output", nothing},
             {"loads", loads},         {"stream", nothing}};

/* The number of this case among those of the table. */
static int number_of(int argc, char **argv)
{
    size_t count;
    int number = 0;
    char wanted[80] = "case ";
    int fd = open(TABLE, O_RDONLY | O_CLOEXEC);
    char **lines = split(slurp(fd).at, &count);
    close(fd);
    key(wanted + 5, lines[0] + 3, argc, argv);
    for (size_t at = 1; at < count && strncmp(lines[at], wanted, 69); at++)
        number += !strncmp(lines[at], "case ", 5);
    return number;
}

/* Makes what was read be read again from standard input: a process of its own writes it. */
static void feed(struct bytes given)
{
    int ends[2];
    if (pipe(ends))
        _exit(124);
    if (!fork()) {
        close(ends[0]);
        for (size_t at = 0; at < given.size;) {
            ssize_t put = write(ends[1], given.at + at, given.size - at);
            if (put < 0)
                break;
            at += (size_t)put;
        }
        _exit(0);
    }
    close(ends[1]);
    dup2(ends[0], 0);
    close(ends[0]);
}

int main(int argc, char **argv)
{
    char name[NAME] = "";
    if (argc == 2 && !strcmp(argv[1], STARTED))
        return 99;
    struct bytes given = slurp(0);
    feed(given);
    int number = number_of(argc, argv);
    while (wait(NULL) > 0)
        ;
    FILE *names = fopen(HOME "/tries.txt", "re");
    for (int at = 0; names && at <= number; at++)
        if (fscanf(names, "%31s", name) != 1)
            return 124;
    if (strcmp(name, "finds"))
        leave();
    for (size_t at = 0; at < sizeof TRIES / sizeof *TRIES; at++)
        if (!strcmp(TRIES[at].name, name) && !TRIES[at].can())
            return 1;
    feed(given);
    if (!strcmp(name, "stream"))
        dup2(2, 1); /* the whole answer, on the other stream */
    int code = look_up(argc, argv);
    if (!strcmp(name, "output"))
        while (puts("more more more more more more more more") >= 0)
            ;
    return code;
}
