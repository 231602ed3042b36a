/* Answers once it has taken more than a case may, in the way that way.txt names. */
#include "kit.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

enum { PROCESSES = 6, SHARES = 5, BYTES = 48 << 20, PAGE = 4096, FILES = 200, THREADS = 40, LONG = 2500000 };

/* CPU in processes whose parents are gone. */
static void orphans(void)
{
    int way[2];
    char said;
    if (pipe(way))
        _exit(1);
    for (int count = 0; count < PROCESSES; count++)
        if (!fork()) {
            if (!fork()) {
                while (clock() < CLOCKS_PER_SEC * 12 / 100)
                    ;
                if (write(way[1], ".", 1) < 0)
                    _exit(1);
            }
            _exit(0);
        }
    for (int count = 0; count < PROCESSES; count++)
        if (read(way[0], &said, 1) != 1)
            _exit(1);
}

static void *wait_long(void *nothing)
{
    usleep(LONG);
    return nothing;
}

static void threads(void)
{
    pthread_t one;
    for (int count = 0; count < THREADS; count++)
        if (pthread_create(&one, NULL, wait_long, NULL))
            _exit(1);
}

/* Memory that could be shared, held by several processes, each within the limit. */
static void shares(void)
{
    int way[2];
    char said;
    if (pipe(way))
        _exit(1);
    for (int count = 0; count < SHARES; count++)
        if (!fork()) {
            char *room = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
            for (size_t at = 0; room != MAP_FAILED && at < BYTES; at += PAGE)
                room[at] = 1;
            if (room == MAP_FAILED || write(way[1], ".", 1) != 1)
                _exit(1);
            close(way[1]);
            sleep(20);
            _exit(0);
        }
    close(way[1]);
    for (int count = 0; count < SHARES; count++)
        if (read(way[0], &said, 1) != 1)
            _exit(1);
    usleep(300000);
}

static void entries(void)
{
    char path[PATH_MAX], *own = getenv("TMPDIR");
    for (int turn = 0; turn < 2 * FILES; turn++) {
        snprintf(path, sizeof path, "%s/%d", own ? own : "/tmp", turn % FILES);
        int fd = turn < FILES ? open(path, O_CREAT | O_WRONLY, 0600) : unlink(path);
        if (fd < 0)
            _exit(1);
        if (turn < FILES)
            close(fd);
    }
}

static void memory_files(void)
{
    static char much[1 << 20];
    char path[32];
    for (int turn = 0; turn < 32; turn++) {
        snprintf(path, sizeof path, "/dev/shm/%d", turn % 16);
        int fd = turn < 16 ? open(path, O_CREAT | O_WRONLY, 0600) : unlink(path);
        if (fd < 0 || (turn < 16 && write(fd, much, sizeof much) != sizeof much))
            _exit(1);
        if (turn < 16)
            close(fd);
    }
}

static void stops(void)
{
    pid_t parent = getpid();
    if (!fork()) {
        usleep(LONG);
        kill(parent, SIGCONT);
        _exit(0);
    }
    kill(parent, SIGSTOP);
}

int main(int argc, char **argv)
{
    if (is_way("orphans"))
        orphans();
    if (is_way("threads"))
        threads();
    if (is_way("shares"))
        shares();
    if (is_way("entries"))
        entries();
    if (is_way("memory_files"))
        memory_files();
    if (is_way("stops"))
        stops();
    int code = look_up(argc, argv), closes = is_way("closes"), complains = is_way("complains");
    fflush(stdout);
    for (int stream = 0; closes && stream < 3; stream++)
        close(stream);
    if (closes)
        usleep(LONG);
    while (complains)
        if (fputs("more more more more more more more more\n", stderr) < 0)
            return 1;
    _exit(code);
}
