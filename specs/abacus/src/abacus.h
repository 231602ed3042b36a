/* Exact arithmetic on fractions of 64-bit integers; whatever does not fit is an error, never a wrong number. */
#ifndef ABACUS_H
#define ABACUS_H

#include <stddef.h>

enum { USAGE = 2, WRONG = 1, MOST_NAMES = 32, MOST_WORDS = 4096, MOST_LETTERS = 512 };

/* A fraction in lowest terms; `below` is positive. */
struct number {
    long long above, below;
};

/* How numbers are written. */
struct style {
    int base, places, fraction, sign;
};

/* A name that an expression may use. */
struct binding {
    char name[32];
    struct number value;
};

struct names {
    struct binding all[MOST_NAMES];
    int count;
};

/* main.c: say what is wrong and end. */
_Noreturn void fail(int status, const char *what, const char *about);

/* number.c */
struct number make(long long above, long long below);
struct number add(struct number a, struct number b);
struct number subtract(struct number a, struct number b);
struct number multiply(struct number a, struct number b);
struct number divide(struct number a, struct number b);
struct number remainder_of(struct number a, struct number b);
struct number power(struct number a, struct number b);
struct number floor_of(struct number a);
struct number round_to(struct number a, int places);
int compare(struct number a, struct number b);
long long whole(struct number a, const char *what);
long long common(long long a, long long b);

/* text.c */
struct number read_number(const char *text, int base);
void write_number(struct number a, const struct style *style);
long long read_option(const char *text, const char *option, long long least, long long most);

/* expression.c */
struct number evaluate(const char *text, struct names *names);
void bind(struct names *names, const char *text, size_t length, struct number value);

/* commands.c */
int run_eval(int count, char **words);
int run_convert(int count, char **words);
int run_factor(int count, char **words);
int run_sequence(int count, char **words);
int run_stats(int count, char **words);

#endif
