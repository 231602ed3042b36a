/* The five commands. Each takes the words behind its name and returns the exit code. */
#include "abacus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of option `name` where the next word is it; `*at` moves on. */
static const char *value_of(const char *name, int count, char **words, int *at)
{
    if (strcmp(words[*at], name))
        return NULL;
    if (*at + 1 == count)
        fail(USAGE, "missing value of option", name);
    return words[++*at];
}

/* Take an option that says how numbers are written. */
static int takes_style(struct style *style, int count, char **words, int *at)
{
    const char *value;
    if ((value = value_of("--places", count, words, at)))
        style->places = (int)read_option(value, "--places", 0, 12);
    else if ((value = value_of("--base", count, words, at)))
        style->base = (int)read_option(value, "--base", 2, 36);
    else if (!strcmp(words[*at], "--fraction"))
        style->fraction = 1;
    else if (!strcmp(words[*at], "--sign"))
        style->sign = 1;
    else
        return 0;
    return 1;
}

static void refuse_option(const char *word)
{
    if (word[0] == '-' && word[1] == '-')
        fail(USAGE, "unknown option", word);
}

/* One line of standard input without its end; 0 at the end of input. */
static int next_line(char *room, size_t size)
{
    if (!fgets(room, (int)size, stdin))
        return 0;
    size_t length = strcspn(room, "\n");
    if (!room[length] && length + 1 == size)
        fail(WRONG, "line too long", NULL);
    room[length] = 0;
    return 1;
}

static void show(const char *text, struct names *names, const struct style *style, int echo)
{
    struct number value = evaluate(text, names);
    if (echo)
        printf("%s = ", text);
    write_number(value, style);
    putchar('\n');
}

int run_eval(int count, char **words)
{
    struct style style = {10, 6, 0, 0};
    struct names names = {.count = 0};
    char line[MOST_LETTERS];
    int echo = 0, shown = 0;
    const char *value;
    for (int at = 0; at < count; at++) {
        if (takes_style(&style, count, words, &at))
            continue;
        if ((value = value_of("--set", count, words, &at))) {
            if (!strchr(value, '='))
                fail(USAGE, "wrong value of option", "--set");
            evaluate(value, &names);
        } else if (!strcmp(words[at], "--echo"))
            echo = 1;
        else {
            refuse_option(words[at]);
            show(words[at], &names, &style, echo);
            shown++;
        }
    }
    while (!shown && next_line(line, sizeof line))
        if (line[0] && line[0] != '#')
            show(line, &names, &style, echo);
    return 0;
}

int run_convert(int count, char **words)
{
    struct style style = {10, 12, 0, 0};
    const char *value;
    int from = 10;
    for (int at = 0; at < count; at++)
        if ((value = value_of("--from", count, words, &at)))
            from = (int)read_option(value, "--from", 2, 36);
        else if ((value = value_of("--to", count, words, &at)))
            style.base = (int)read_option(value, "--to", 2, 36);
        else if (!takes_style(&style, count, words, &at)) {
            refuse_option(words[at]);
            write_number(read_number(words[at], from), &style);
            putchar('\n');
        }
    return 0;
}

/* Write one prime factor that divides `times` times. */
static void write_factor(long long prime, int times, int powers)
{
    if (powers && times > 1)
        printf(" %lld^%d", prime, times);
    else
        for (; times; times--)
            printf(" %lld", prime);
}

int run_factor(int count, char **words)
{
    int powers = 0, failed = 0;
    for (int at = 0; at < count; at++) {
        if (!strcmp(words[at], "--powers")) {
            powers = 1;
            continue;
        }
        refuse_option(words[at]);
        long long rest = whole(read_number(words[at], 10), words[at]);
        if (rest < 2) {
            fprintf(stderr, "abacus: cannot factor: %s\n", words[at]);
            failed = WRONG;
            continue;
        }
        printf("%lld:", rest);
        for (long long prime = 2; prime <= rest / prime; prime += prime == 2 ? 1 : 2) {
            int times = 0;
            for (; rest % prime == 0; rest /= prime)
                times++;
            write_factor(prime, times, powers);
        }
        if (rest > 1)
            write_factor(rest, 1, powers);
        putchar('\n');
    }
    return failed;
}

int run_sequence(int count, char **words)
{
    struct style style = {10, 6, 0, 0};
    struct number first = make(1, 1), step = make(1, 1), total = make(0, 1), before = make(0, 1);
    const char *value, *separator = "\n", *kind = "arithmetic";
    long long length = 10;
    int sums = 0;
    for (int at = 0; at < count; at++)
        if ((value = value_of("--first", count, words, &at)))
            first = read_number(value, 10);
        else if ((value = value_of("--step", count, words, &at)))
            step = read_number(value, 10);
        else if ((value = value_of("--count", count, words, &at)))
            length = read_option(value, "--count", 1, 1000);
        else if ((value = value_of("--separator", count, words, &at)))
            separator = value;
        else if ((value = value_of("--kind", count, words, &at)))
            kind = value;
        else if (!strcmp(words[at], "--sums"))
            sums = 1;
        else if (!takes_style(&style, count, words, &at))
            fail(USAGE, "unknown option", words[at]);
    if (strcmp(kind, "arithmetic") && strcmp(kind, "geometric") && strcmp(kind, "fibonacci"))
        fail(USAGE, "unknown kind", kind);
    for (long long i = 0; i < length; i++) {
        total = add(total, first);
        write_number(sums ? total : first, &style);
        fputs(i + 1 < length ? separator : "\n", stdout);
        struct number now = first;
        if (*kind == 'f')
            first = add(first, i ? before : subtract(step, first));
        else
            first = *kind == 'g' ? multiply(first, step) : add(first, step);
        before = now;
    }
    return 0;
}

static int by_size(const void *a, const void *b)
{
    return compare(*(const struct number *)a, *(const struct number *)b);
}

static void say(const char *what, struct number value, const struct style *style)
{
    printf("%-9s", what);
    write_number(value, style);
    putchar('\n');
}

int run_stats(int count, char **words)
{
    static struct number all[MOST_WORDS];
    struct style style = {10, 6, 0, 0};
    struct number total = make(0, 1);
    char word[64];
    int found = 0, spread = 0;
    for (int at = 0; at < count; at++)
        if (!strcmp(words[at], "--spread"))
            spread = 1;
        else if (!takes_style(&style, count, words, &at))
            fail(USAGE, "unknown option", words[at]);
    while (scanf("%63s", word) == 1) {
        if (found == MOST_WORDS)
            fail(WRONG, "too many numbers", NULL);
        all[found] = read_number(word, 10);
        total = add(total, all[found++]);
    }
    if (!found)
        fail(WRONG, "no numbers", NULL);
    qsort(all, (size_t)found, sizeof *all, by_size);
    struct number middle = divide(add(all[found / 2], all[(found - 1) / 2]), make(2, 1));
    printf("%-9s%d\n", "count", found);
    say("sum", total, &style);
    say("mean", divide(total, make(found, 1)), &style);
    say("median", middle, &style);
    say("least", all[0], &style);
    say("most", all[found - 1], &style);
    if (spread) {
        struct number squares = make(0, 1), mean = divide(total, make(found, 1));
        for (int i = 0; i < found; i++)
            squares = add(squares, power(subtract(all[i], mean), make(2, 1)));
        say("range", subtract(all[found - 1], all[0]), &style);
        say("variance", divide(squares, make(found, 1)), &style);
    }
    return 0;
}
