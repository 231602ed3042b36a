/* Numbers as text, in any base from 2 to 36. */
#include "abacus.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static int digit_of(int letter, int base)
{
    const char *found = letter ? strchr(digits, tolower(letter)) : NULL;
    return found && found - digits < base ? (int)(found - digits) : -1;
}

/* Reads `-12.5`, `7/4`, or with another base `ff.8`. */
struct number read_number(const char *text, int base)
{
    const char *at = text;
    int negative = *at == '-', seen = 0, after = 0;
    struct number value = make(0, 1), scale = make(1, 1), times = make(base, 1);
    if (*at == '-' || *at == '+')
        at++;
    for (; digit_of(*at, base) >= 0 || (*at == '.' && !after); at++) {
        if (*at == '.') {
            after = 1;
            continue;
        }
        value = add(multiply(value, times), make(digit_of(*at, base), 1));
        if (after)
            scale = multiply(scale, times);
        seen = 1;
    }
    if (*at == '/' && seen) {
        struct number below = read_number(at + 1, base);
        value = divide(divide(value, scale), below);
    } else if (*at || !seen)
        fail(WRONG, "not a number", text);
    else
        value = divide(value, scale);
    return negative ? subtract(make(0, 1), value) : value;
}

static void write_whole(long long value, int base)
{
    char room[80];
    int at = (int)sizeof room - 1;
    room[at] = 0;
    do
        room[--at] = digits[value % base];
    while (value /= base);
    fputs(room + at, stdout);
}

/* A fraction as such or with places after the point; places that are all zero at the end are left out. */
void write_number(struct number a, const struct style *style)
{
    if (a.above < 0)
        putchar('-');
    else if (style->sign)
        putchar('+');
    if (a.above < 0)
        a.above = -a.above;
    if (!style->fraction && style->base == 10)
        a = round_to(a, style->places);
    write_whole(a.above / a.below, style->base);
    struct number rest = make(a.above % a.below, a.below);
    if (rest.above && style->fraction) {
        putchar(' ');
        write_whole(rest.above, style->base);
        putchar('/');
        write_whole(rest.below, style->base);
    } else if (rest.above) {
        putchar('.');
        for (int place = 0; place < style->places && rest.above; place++) {
            rest = multiply(rest, make(style->base, 1));
            putchar(digits[rest.above / rest.below]);
            rest = make(rest.above % rest.below, rest.below);
        }
    }
}

long long read_option(const char *text, const char *option, long long least, long long most)
{
    char *end = NULL;
    long long value = text ? strtoll(text, &end, 10) : 0;
    if (!text || !*text || *end || value < least || value > most)
        fail(USAGE, "wrong value of option", option);
    return value;
}
