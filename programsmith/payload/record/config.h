/* What the stand-in is told, in lines of words between tabs:
 *   calls FOLDER               where logs go
 *   cap BYTES                  of each stream, of one file, and four times that of all files of a call
 *   root FOLDER                files below it can belong to a case
 *   own FOLDER                 files below it cannot, though they are below a root
 *   drop NAME                  a variable that the suite needs and the program must not see
 *   program PATH NAME          what is recorded, and its first argument
 *   stands PATH OTHER [WORD…]  a stand-in; a call whose first words are these is one of the program, minus them; any
 *                              other starts OTHER unrecorded; options before these words are an interpreter's own
 */
#ifndef PS_CONFIG_H
#define PS_CONFIG_H

#include "log.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#define CONFIG "/build/record/config"
enum { MOST_ROOTS = 16, MOST_WORDS = 8, MOST_FORMS = 64, MOST_DROPS = 16 };

struct form {
    const char *path, *other, *word[MOST_WORDS];
    int words;
};

static struct {
    const char *calls, *program, *name, *root[MOST_ROOTS], *own[MOST_ROOTS], *drop[MOST_DROPS];
    size_t cap;
    int roots, owns, drops, forms;
    struct form form[MOST_FORMS];
} told;

static char *next_word(char **rest)
{
    char *word = *rest, *tab = word ? strchr(word, '\t') : NULL;
    *rest = tab ? tab + 1 : NULL;
    if (tab)
        *tab = 0;
    return word;
}

static void read_line(char *line)
{
    char *rest = line, *key = next_word(&rest);
    if (!strcmp(key, "calls"))
        told.calls = rest;
    else if (!strcmp(key, "cap"))
        told.cap = strtoul(rest, NULL, 10);
    else if (!strcmp(key, "root") && told.roots < MOST_ROOTS)
        told.root[told.roots++] = rest;
    else if (!strcmp(key, "own") && told.owns < MOST_ROOTS)
        told.own[told.owns++] = rest;
    else if (!strcmp(key, "drop") && told.drops < MOST_DROPS)
        told.drop[told.drops++] = rest;
    else if (!strcmp(key, "program")) {
        told.program = next_word(&rest);
        told.name = rest;
    } else if (!strcmp(key, "stands") && told.forms < MOST_FORMS) {
        struct form *form = &told.form[told.forms++];
        form->path = next_word(&rest);
        form->other = next_word(&rest);
        while (rest && form->words < MOST_WORDS)
            form->word[form->words++] = next_word(&rest);
    }
}

static void read_config(void)
{
    static struct text text;
    char part[4096], *rest;
    ssize_t got;
    int fd = open(CONFIG, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        give_up(CONFIG);
    while ((got = read(fd, part, sizeof part)) > 0)
        append(&text, part, (size_t)got);
    close(fd);
    for (char *line = strtok_r(text.at, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        read_line(line);
    if (!told.calls || !told.program || !told.name || !told.cap)
        give_up(CONFIG);
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* How many options of an interpreter lead; they are not the program's. */
static int leading(const struct form *form, int argc, char **argv)
{
    int at = 1;
    while (form->words && at < argc && argv[at][0] == '-' && argv[at][1] && strcmp(argv[at], form->word[0]) &&
           strcmp(argv[at], "-c") && strcmp(argv[at], "-m"))
        at += !strcmp(argv[at], "-W") || !strcmp(argv[at], "-X") ? 2 : 1;
    return at - 1;
}

/* How many words after the first one the form takes; -1 where the call is not of this form. */
static int fits(const struct form *form, int argc, char **argv)
{
    int skipped = leading(form, argc, argv);
    if (argc <= skipped + form->words)
        return -1;
    for (int i = 0; i < form->words; i++) {
        char resolved[PATH_MAX];
        const char *given = argv[skipped + i + 1];
        if (form->word[i][0] == '/' && realpath(given, resolved))
            given = resolved;
        if (strcmp(form->word[i], given))
            return -1;
    }
    return skipped + form->words;
}

/* The form of this call: among those of this stand-in's path, else (it was copied) of its name. */
static const struct form *form_of(const char *self, int argc, char **argv, int *taken)
{
    const struct form *other = NULL;
    for (int named = 0; named < 2 && !other; named++)
        for (int i = 0; i < told.forms; i++) {
            const struct form *form = &told.form[i];
            if (strcmp(named ? base_of(form->path) : form->path, named ? base_of(self) : self))
                continue;
            other = form;
            *taken = fits(form, argc, argv);
            if (*taken >= 0)
                return form;
        }
    *taken = -1;
    return other;
}

#endif
