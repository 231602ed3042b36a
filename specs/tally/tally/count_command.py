"""count: how many rows, or how often each value of a column occurs."""

from tally.errors import UsageError
from tally.exact import divide, show
from tally.table import as_lines

ORDERS = ("count", "value", "first")


def work(tables, options):
    (table,) = tables
    if "column" not in options:
        return as_lines(["rows", "columns"], [[str(len(table.rows)), str(len(table.header))]], options), 0
    order = options.get("order", "count")
    if order not in ORDERS:
        raise UsageError("--order must be count, value or first, got %s" % order)
    column = table.column(options["column"])
    counts = {}
    for row in table.rows:
        value = row[column].lower() if "ignore-case" in options else row[column]
        counts[value] = counts.get(value, 0) + 1
    kept = [(value, count) for value, count in counts.items() if count >= options.get("minimum", 1)]
    if order == "value":
        kept.sort()
    elif order == "count":
        kept.sort(key=lambda pair: (-pair[1], pair[0]))
    header, rows = [table.header[column], "count"], [[value, str(count)] for value, count in kept]
    if "percent" in options:
        header.append("percent")
        for row, (_, count) in zip(rows, kept):
            row.append(show(divide((100 * count, 0), len(table.rows), 1)) + "%")
    return as_lines(header, rows, options), 0
