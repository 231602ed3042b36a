"""Exact decimal numbers. A number is a pair (digits, scale) and stands for digits / 10**scale."""

from tally.errors import TallyError

LONGEST = 30


def parse(text):
    """The number that `text` is, or None: an optional sign, digits, and a point with digits."""
    body = text.strip()
    sign = -1 if body.startswith("-") else 1
    if body[:1] in ("+", "-"):
        body = body[1:]
    whole, point, part = body.partition(".")
    if not (whole + part).isdecimal() or not body.isascii() or len(body) > LONGEST:
        return None
    if point and not part or not whole:
        return None
    return sign * int(whole + part), len(part)


def number_at(table, row, column):
    """The number in a field of a table. Raises TallyError where it is none."""
    text = table.rows[row][column]
    value = parse(text)
    if value is None:
        raise TallyError("line %d: not a number: %s" % (table.numbers[row], text))
    return value


def scaled(value, scale):
    """The digits of `value` at a scale that is not smaller than its own."""
    return value[0] * 10 ** (scale - value[1])


def compare(one, two):
    """Negative, zero or positive as `one` is below, equal to or above `two`."""
    scale = max(one[1], two[1])
    return scaled(one, scale) - scaled(two, scale)


def sort_key(values):
    """Digits of every value at one scale: they sort and compare as the numbers do."""
    scale = max([value[1] for value in values], default=0)
    return [scaled(value, scale) for value in values]


def total(values):
    """The sum, with as many decimals as the most precise value."""
    scale = max([value[1] for value in values], default=0)
    return sum(scaled(value, scale) for value in values), scale


def subtract(one, two):
    """The difference."""
    return total([one, (-two[0], two[1])])


def divide(value, count, places):
    """`value` / `count` with `places` decimals, halves rounded away from zero."""
    digits, scale = value
    top = abs(digits) * 10**places * 2
    bottom = count * 10**scale
    result = (top + bottom) // (2 * bottom)
    return (result if digits >= 0 else -result), places


def rounded(value, places):
    """`value` with exactly `places` decimals."""
    return divide(value, 1, places)


def show(value):
    """The number as text."""
    digits, scale = value
    text = str(abs(digits)).rjust(scale + 1, "0")
    sign = "-" if digits < 0 else ""
    if scale == 0:
        return sign + text
    return sign + text[:-scale] + "." + text[-scale:]
