/* Expressions: names, numbers, functions, the usual operators with the usual precedence, by recursive descent. */
#include "abacus.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { DEEPEST = 200 };

struct reader {
    const char *text, *at;
    struct names *names;
    int depth;
};

static struct number sum(struct reader *r);

static void skip(struct reader *r)
{
    while (isspace((unsigned char)*r->at))
        r->at++;
}

/* Whether the next thing is `word`; then it is taken. */
static int take(struct reader *r, const char *word)
{
    skip(r);
    size_t length = strlen(word);
    if (strncmp(r->at, word, length))
        return 0;
    r->at += length;
    return 1;
}

static struct number *find(struct names *names, const char *name, size_t length)
{
    for (int i = 0; i < names->count; i++)
        if (strlen(names->all[i].name) == length && !strncmp(names->all[i].name, name, length))
            return &names->all[i].value;
    return NULL;
}

void bind(struct names *names, const char *text, size_t length, struct number value)
{
    struct number *known = find(names, text, length);
    if (known) {
        *known = value;
        return;
    }
    if (length == 0 || length >= sizeof names->all[0].name || names->count == MOST_NAMES)
        fail(WRONG, "name refused", text);
    struct binding *fresh = &names->all[names->count++];
    memcpy(fresh->name, text, length);
    fresh->name[length] = 0;
    fresh->value = value;
}

static struct number call(struct reader *r, const char *name, size_t length)
{
    struct number all[8];
    int count = 0;
    do {
        if (count == 8)
            fail(WRONG, "too many arguments", r->text);
        all[count++] = sum(r);
    } while (take(r, ","));
    if (!take(r, ")"))
        fail(WRONG, "missing )", r->text);
    if (length == 3 && !strncmp(name, "abs", 3) && count == 1)
        return all[0].above < 0 ? subtract(make(0, 1), all[0]) : all[0];
    if (length == 5 && !strncmp(name, "floor", 5) && count == 1)
        return floor_of(all[0]);
    if (length == 4 && !strncmp(name, "ceil", 4) && count == 1)
        return subtract(make(0, 1), floor_of(subtract(make(0, 1), all[0])));
    if (length == 5 && !strncmp(name, "round", 5) && count == 1)
        return round_to(all[0], 0);
    if (length == 3 && !strncmp(name, "gcd", 3) && count == 2)
        return make(common(whole(all[0], "gcd"), whole(all[1], "gcd")), 1);
    if (length != 3 || (strncmp(name, "min", 3) && strncmp(name, "max", 3)))
        fail(WRONG, "unknown function", r->text);
    int least = name[1] == 'i';
    for (int i = 1; i < count; i++)
        if (least ? compare(all[i], all[0]) < 0 : compare(all[i], all[0]) > 0)
            all[0] = all[i];
    return all[0];
}

static struct number atom(struct reader *r)
{
    if (take(r, "(")) {
        if (++r->depth > DEEPEST)
            fail(WRONG, "nested too deeply", NULL);
        struct number inner = sum(r);
        r->depth--;
        if (!take(r, ")"))
            fail(WRONG, "missing )", r->text);
        return inner;
    }
    const char *start = r->at;
    if (isalpha((unsigned char)*start)) {
        while (isalnum((unsigned char)*r->at) || *r->at == '_')
            r->at++;
        size_t length = (size_t)(r->at - start);
        if (take(r, "("))
            return call(r, start, length);
        struct number *known = find(r->names, start, length);
        if (!known)
            fail(WRONG, "unknown name", start);
        return *known;
    }
    char room[64];
    size_t length = strspn(start, "0123456789.");
    if (length == 0 || length >= sizeof room)
        fail(WRONG, "cannot read", *start ? start : "end of expression");
    memcpy(room, start, length);
    room[length] = 0;
    r->at += length;
    return read_number(room, 10);
}

static struct number signed_power(struct reader *r)
{
    if (take(r, "-")) {
        if (++r->depth > DEEPEST)
            fail(WRONG, "nested too deeply", NULL);
        struct number inner = signed_power(r);
        r->depth--;
        return subtract(make(0, 1), inner);
    }
    struct number value = atom(r);
    if (take(r, "!")) {
        long long count = whole(value, "factorial");
        if (count < 0)
            fail(WRONG, "factorial of a negative number", NULL);
        value = make(1, 1);
        for (; count > 1; count--)
            value = multiply(value, make(count, 1));
    }
    return take(r, "^") ? power(value, signed_power(r)) : value;
}

static struct number product(struct reader *r)
{
    struct number value = signed_power(r);
    for (;;)
        if (take(r, "*"))
            value = multiply(value, signed_power(r));
        else if (take(r, "/"))
            value = divide(value, signed_power(r));
        else if (take(r, "%"))
            value = remainder_of(value, signed_power(r));
        else
            return value;
}

static struct number sum(struct reader *r)
{
    struct number value = product(r);
    for (;;)
        if (take(r, "+"))
            value = add(value, product(r));
        else if (take(r, "-"))
            value = subtract(value, product(r));
        else
            return value;
}

/* The value of `EXPRESSION`, or of `NAME = EXPRESSION`, which binds the name. */
struct number evaluate(const char *text, struct names *names)
{
    struct reader r = {text, text, names, 0};
    skip(&r);
    const char *start = r.at, *end = start;
    if (isalpha((unsigned char)*start))
        while (isalnum((unsigned char)*end) || *end == '_')
            end++;
    const char *equals = end + strspn(end, " \t");
    int binds = end > start && *equals == '=';
    if (binds)
        r.at = equals + 1;
    struct number value = sum(&r);
    skip(&r);
    if (*r.at)
        fail(WRONG, "cannot read", r.at);
    if (binds)
        bind(names, start, (size_t)(end - start), value);
    return value;
}
