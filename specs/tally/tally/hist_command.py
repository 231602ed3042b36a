"""hist: a bar for each part of a column's range."""

from tally.errors import TallyError, UsageError
from tally.exact import number_at, show, sort_key


def work(tables, options):
    (table,) = tables
    if "column" not in options:
        raise UsageError("hist needs --column")
    bins, width, symbol = options.get("bins", 5), options.get("width", 30), options.get("symbol", "*")
    if bins < 1 or width < 1 or len(symbol) != 1:
        raise UsageError("hist needs at least one bin, a width of at least 1 and a symbol of one character")
    column = table.column(options["column"])
    values = [number_at(table, n, column) for n in range(len(table.rows))]
    if not values:
        raise TallyError("there are no rows")
    keys = sort_key(values)
    scale = max(value[1] for value in values)
    low, high = min(keys), max(keys)
    counts = [0] * bins
    for key in keys:
        counts[bins - 1 if key == high else (key - low) * bins // (high - low)] += 1
    if "cumulative" in options:
        for n in range(1, bins):
            counts[n] += counts[n - 1]
    labels = [edge(low, high, n, bins, scale) + ".." + edge(low, high, n + 1, bins, scale) for n in range(bins)]
    wide, most = max(len(label) for label in labels), max(counts)
    digits = len(str(most))
    lines = []
    for label, count in zip(labels, counts):
        length = count * width // most
        if count > 0 and length == 0:
            length = 1
        lines.append((label.rjust(wide) + "  " + str(count).rjust(digits) + "  " + symbol * length).rstrip())
    return lines, 0


def edge(low, high, n, bins, scale):
    """Where bin `n` begins, with one decimal more than the data, cut off."""
    digits = low * 10 + (high - low) * 10 * n // bins
    return show((digits, scale + 1))
