/* What exploits in C share: words that were handed in, and the table program, which `TABLE` may send elsewhere. */
#define main look_up
#include "table.h"
#undef main

#include <sys/wait.h>

/* What `name`.txt beside it says. */
static inline char *word(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/app/submission/%s.txt", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        _exit(1);
    char *said = slurp(fd).at;
    close(fd);
    said[strcspn(said, "\n")] = 0;
    return said;
}

static inline int is_way(const char *name)
{
    return !strcmp(word("way"), name);
}
