/* Prints what its first argument names: the month as each call tells it, or something that only takes time. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t heard;

static void hear(int number)
{
    heard = number;
}

static time_t of_day(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return now.tv_sec;
}

static time_t of_clock(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return now.tv_sec;
}

static time_t of_file(void)
{
    struct stat facts;
    FILE *made = fopen("made", "w");
    return made && !fclose(made) && !stat("made", &facts) && !remove("made") ? facts.st_mtime : -1;
}

/* Waits a moment until a time of day, in two ways; not 0 where that is too short or fails. */
static int waits(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec until, begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&lock);
    int late = pthread_cond_timedwait(&never, &lock, &until);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    int failed = clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    return !late || failed || ended.tv_sec - begun.tv_sec < 1 || ended.tv_sec - begun.tv_sec > 8;
}

static void *in_thread(void *at)
{
    *(time_t *)at = of_clock(CLOCK_REALTIME);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    char month[16];
    time_t now = 0;
    if (!strcmp(word, "time"))
        now = time(NULL);
    else if (!strcmp(word, "day"))
        now = of_day();
    else if (!strcmp(word, "clock"))
        now = of_clock(CLOCK_REALTIME);
    else if (!strcmp(word, "coarse"))
        now = of_clock(CLOCK_REALTIME_COARSE);
    else if (!strcmp(word, "file"))
        now = of_file();
    else if (!strcmp(word, "thread")) {
        pthread_t other;
        pthread_create(&other, NULL, in_thread, &now);
        pthread_join(other, NULL);
    } else if (!strcmp(word, "child")) {
        fflush(stdout);
        if (!fork())
            execl("/proc/self/exe", argv[0], "time", (char *)NULL);
        return wait(NULL) < 0;
    } else if (!strcmp(word, "lasts")) {
        time_t begun = time(NULL);
        usleep(1000);
        puts(time(NULL) - begun < 30 && of_file() - begun < 30 ? "soon" : "late");
    } else if (!strcmp(word, "waits"))
        puts(waits() ? "wrong" : "waited");
    else if (!strcmp(word, "signal")) {
        signal(SIGUSR1, hear);
        raise(SIGUSR1);
        printf("heard %d\n", heard == SIGUSR1);
    }
    if (now && strftime(month, sizeof month, "%Y-%m", gmtime(&now)))
        puts(month);
    return 0;
}
