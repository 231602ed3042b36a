"""group: one result per distinct value of a column."""

from tally.errors import UsageError
from tally.exact import divide, number_at, rounded, show, sort_key, subtract, total
from tally.table import as_lines

FUNCTIONS = ("sum", "mean", "least", "greatest", "range", "count", "first", "last")


def work(tables, options):
    (table,) = tables
    function, order = options.get("function", "sum"), options.get("order", "first")
    if "by" not in options:
        raise UsageError("group needs --by")
    if function not in FUNCTIONS:
        raise UsageError("unknown function: %s" % function)
    if order not in ("first", "key", "value"):
        raise UsageError("--order must be first, key or value, got %s" % order)
    if "value" not in options and function != "count":
        raise UsageError("function %s needs --value" % function)
    by = table.column(options["by"])
    members = {}
    for n, row in enumerate(table.rows):
        members.setdefault(row[by], []).append(n)
    name = function
    if "value" in options:
        name = function + "_" + table.header[table.column(options["value"])]
    results = [(key, result(table, rows, function, options)) for key, rows in members.items()]
    results = ordered(results, order, function)
    if "reverse" in options:
        results.reverse()
    if "total" in options:
        results.append(("total", result(table, range(len(table.rows)), function, options)))
    return as_lines([table.header[by], name], [[key, shown(value)] for key, value in results], options), 0


def result(table, rows, function, options):
    """The function over some rows: a number, or the text of a field."""
    if function == "count":
        return len(rows), 0
    column = table.column(options["value"])
    if not rows:
        return "-"
    if function == "first":
        return table.rows[rows[0]][column]
    if function == "last":
        return table.rows[rows[-1]][column]
    values = [number_at(table, n, column) for n in rows]
    keys = sort_key(values)
    least, greatest = values[keys.index(min(keys))], values[keys.index(max(keys))]
    places = options.get("places")
    if function == "mean":
        return divide(total(values), len(values), 2 if places is None else places)
    value = {"sum": total(values), "least": least, "greatest": greatest, "range": subtract(greatest, least)}[function]
    return value if places is None else rounded(value, places)


def ordered(results, order, function):
    """Results in the order that the user asked for; equal ones stay in the order of their first row."""
    if order == "key":
        return sorted(results, key=lambda pair: pair[0])
    if order == "value" and function in ("first", "last"):
        return sorted(results, key=lambda pair: pair[1])
    if order == "value":
        keys = sort_key([value for _, value in results])
        return [pair for _, pair in sorted(zip(keys, results), key=lambda both: both[0])]
    return results


def shown(value):
    """A result as text."""
    return value if isinstance(value, str) else show(value)
