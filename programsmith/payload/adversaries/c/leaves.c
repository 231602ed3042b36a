/* Answers, and leaves its work directory otherwise than it must, in the way that way.txt names. */
#include "kit.h"

enum { LEVELS = 200 };
static const char *const names[] = {"hidden/\xff\n\x1b[2J", "hidden/ .", "hidden/-rf"};

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
    DIR *here = is_way("deletes") ? opendir(".") : NULL;
    for (struct dirent *item; here && (item = readdir(here));)
        if (item->d_type == DT_REG)
            unlink(item->d_name);
    return code;
}
