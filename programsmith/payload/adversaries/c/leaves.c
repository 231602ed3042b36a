/* Answers, and leaves its work directory otherwise than it must, in the way that way.txt names. */
#include "kit.h"

enum { LEVELS = 200 };
static const char *const names[] = {"hidden/\xff\n\x1b[2J", "hidden/ .", "hidden/-rf"};

/* Something else in the place of a file: a pipe, or a link to where the same bytes are now. */
static int replace(const char *name)
{
    char other[300];
    snprintf(other, sizeof other, "/tmp/%s", name);
    int from = open(name, O_RDONLY), to = open(other, O_WRONLY | O_CREAT, 0644);
    struct bytes held = slurp(from);
    if (write(to, held.at, held.size) < 0 || unlink(name))
        return -1;
    return is_way("pipes") ? mkfifo(name, 0644) : symlink(other, name);
}

int main(int argc, char **argv)
{
    int code = look_up(argc, argv);
    for (int level = 0; is_way("digs") && level < LEVELS; level++)
        if (mkdir("d", 0755) || chdir("d"))
            return 1;
    if (is_way("hides") && mkdir("hidden", 0700) == 0) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            close(open(names[i], O_WRONLY | O_CREAT, 0644));
        chmod("hidden", 0);
    }
    DIR *here = is_way("digs") || is_way("hides") ? NULL : opendir(".");
    for (struct dirent *item; here && (item = readdir(here));)
        if (item->d_type == DT_REG && (is_way("deletes") ? unlink(item->d_name) : replace(item->d_name)))
            return 1;
    return code;
}
