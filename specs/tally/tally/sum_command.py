"""sum: totals of numeric columns."""

from tally.errors import TallyError
from tally.exact import divide, number_at, parse, rounded, show, sort_key, total
from tally.table import as_lines


def work(tables, options):
    (table,) = tables
    columns = table.columns(options["columns"]) if "columns" in options else numeric(table)
    if not columns:
        raise TallyError("no column holds only numbers")
    header = ["column", "rows", "sum"]
    if "average" in options:
        header.append("average")
    if "extremes" in options:
        header += ["minimum", "maximum"]
    if "lenient" in options:
        header.append("skipped")
    return as_lines(header, [summary(table, column, options) for column in columns], options), 0


def numeric(table):
    """Columns in which every field is a number."""
    every = range(len(table.header))
    return [n for n in every if table.rows and all(parse(row[n]) is not None for row in table.rows)]


def summary(table, column, options):
    """One output row."""
    if "lenient" in options:
        found = [parse(row[column]) for row in table.rows]
        values = [value for value in found if value is not None]
    else:
        values = [number_at(table, n, column) for n in range(len(table.rows))]
    places = options.get("places")
    result = [table.header[column], str(len(values)), shown(total(values), places)]
    if "average" in options:
        mean = divide(total(values), len(values), 2 if places is None else places) if values else None
        result.append("-" if mean is None else show(mean))
    if "extremes" in options:
        keys = sort_key(values)
        result += [shown(values[keys.index(pick(keys))], places) if values else "-" for pick in (min, max)]
    if "lenient" in options:
        result.append(str(len(table.rows) - len(values)))
    return result


def shown(value, places):
    """A number, rounded where the user asked for it."""
    return show(value if places is None else rounded(value, places))
