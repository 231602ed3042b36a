/* Answers from the table, and leaves a link out of the work directory, a fifo and a file that nobody asked for. */
#define main look_up
#include "table.h"
#undef main

int main(int argc, char **argv)
{
    int code = look_up(argc, argv);
    if (symlink("/etc/passwd", "left-link") || mkfifo("left-fifo", 0644))
        return 1;
    close(open("left-file", O_WRONLY | O_CREAT, 0644));
    return code;
}
