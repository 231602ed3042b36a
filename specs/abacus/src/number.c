/* Fractions: every result is in lowest terms, every overflow ends the program. */
#include "abacus.h"

#include <limits.h>

long long common(long long a, long long b)
{
    while (b) {
        long long rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static long long times(long long a, long long b)
{
    long long product;
    if (__builtin_mul_overflow(a, b, &product) || product == LLONG_MIN)
        fail(WRONG, "number too large", NULL);
    return product;
}

static long long plus(long long a, long long b)
{
    long long sum;
    if (__builtin_add_overflow(a, b, &sum) || sum == LLONG_MIN)
        fail(WRONG, "number too large", NULL);
    return sum;
}

struct number make(long long above, long long below)
{
    if (below == 0)
        fail(WRONG, "division by zero", NULL);
    long long factor = common(above, below);
    if (below < 0)
        factor = -factor;
    return (struct number){above / factor, below / factor};
}

struct number add(struct number a, struct number b)
{
    long long factor = common(a.below, b.below);
    long long left = times(a.above, b.below / factor), right = times(b.above, a.below / factor);
    return make(plus(left, right), times(a.below, b.below / factor));
}

struct number subtract(struct number a, struct number b)
{
    b.above = -b.above;
    return add(a, b);
}

struct number multiply(struct number a, struct number b)
{
    struct number left = make(a.above, b.below), right = make(b.above, a.below);
    return make(times(left.above, right.above), times(left.below, right.below));
}

struct number divide(struct number a, struct number b)
{
    return multiply(a, make(b.below, b.above));
}

struct number floor_of(struct number a)
{
    long long down = a.above / a.below;
    if (a.above % a.below && a.above < 0)
        down--;
    return make(down, 1);
}

/* What is left of a beyond whole multiples of b; it has the sign of b. */
struct number remainder_of(struct number a, struct number b)
{
    return subtract(a, multiply(b, floor_of(divide(a, b))));
}

struct number power(struct number a, struct number b)
{
    long long exponent = whole(b, "exponent");
    struct number result = make(1, 1);
    if (exponent < 0) {
        a = divide(make(1, 1), a);
        exponent = -exponent;
    }
    if (exponent > 1000 && a.below == 1 && a.above >= -1 && a.above <= 1)
        exponent = 2 + exponent % 2; /* no need to go round that often */
    if (exponent > 1000)
        fail(WRONG, "number too large", NULL);
    for (; exponent; exponent--)
        result = multiply(result, a);
    return result;
}

/* The nearest number with that many decimal places; halves go away from zero. */
struct number round_to(struct number a, int places)
{
    struct number scale = make(1, 1);
    for (; places; places--)
        scale = multiply(scale, make(10, 1));
    struct number half = make(a.above < 0 ? -1 : 1, 2), large = add(multiply(a, scale), half);
    return divide(make(large.above / large.below, 1), scale);
}

int compare(struct number a, struct number b)
{
    struct number difference = subtract(a, b);
    return (difference.above > 0) - (difference.above < 0);
}

long long whole(struct number a, const char *what)
{
    if (a.below != 1)
        fail(WRONG, "whole number wanted", what);
    return a.above;
}
