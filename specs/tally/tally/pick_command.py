"""pick: some columns, some rows."""

from tally.errors import UsageError
from tally.exact import compare, parse
from tally.table import as_lines

OPERATORS = ("!=", "<=", ">=", "=", "<", ">", "~")


def work(tables, options):
    (table,) = tables
    rows = table.rows
    if "where" in options:
        column, operator, wanted = condition(table, options["where"])
        rows = [row for row in rows if holds(row[column], operator, wanted)]
    columns = table.columns(options["columns"]) if "columns" in options else list(range(len(table.header)))
    if "exclude" in options:
        without = table.columns(options["exclude"])
        columns = [n for n in columns if n not in without]
    if not columns:
        raise UsageError("no column is left")
    picked = [[row[n] for n in columns] for row in rows]
    if "unique" in options:
        picked = [list(row) for row in dict.fromkeys(tuple(row) for row in picked)]
    return as_lines([table.header[n] for n in columns], picked, options), 0


def condition(table, text):
    """Column, operator and value of a condition such as price>=10."""
    for at in range(1, len(text)):
        for operator in OPERATORS:
            if text.startswith(operator, at):
                return table.column(text[:at].strip()), operator, text[at + len(operator) :].strip()
    raise UsageError("not a condition: %s" % text)


def holds(field, operator, wanted):
    """Whether a field meets a condition. Two numbers compare as numbers, anything else as text."""
    if operator == "~":
        return wanted.lower() in field.lower()
    one, two = parse(field), parse(wanted)
    if one is not None and two is not None:
        difference = compare(one, two)
    else:
        difference = (field > wanted) - (field < wanted)
    return {
        "=": difference == 0,
        "!=": difference != 0,
        "<": difference < 0,
        "<=": difference <= 0,
        ">": difference > 0,
        ">=": difference >= 0,
    }[operator]
