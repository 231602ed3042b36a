"""top: the rows with the greatest or smallest numbers in a column."""

from tally.errors import UsageError
from tally.exact import number_at, sort_key
from tally.table import as_lines


def work(tables, options):
    (table,) = tables
    if "column" not in options:
        raise UsageError("top needs --column")
    column = table.column(options["column"])
    keep = options.get("keep", 5)
    keys = sort_key([number_at(table, n, column) for n in range(len(table.rows))])
    sign = 1 if "lowest" in options else -1
    order = sorted(range(len(keys)), key=lambda n: sign * keys[n])
    end = min(keep, len(order))
    if "ties" in options and end > 0:
        while end < len(order) and keys[order[end]] == keys[order[end - 1]]:
            end += 1
    header, rows = table.header, [table.rows[n] for n in order[:end]]
    if "rank" in options:
        header = ["rank"] + header
        rows = [[str(rank)] + row for rank, row in zip(ranks([keys[n] for n in order[:end]]), rows)]
    return as_lines(header, rows, options), 0


def ranks(keys):
    """1, 2, 2, 4: equal keys share a rank."""
    found = []
    for n, key in enumerate(keys):
        found.append(found[-1] if n > 0 and key == keys[n - 1] else n + 1)
    return found
