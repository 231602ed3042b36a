"""split: one file per distinct value of a column."""

from tally.errors import TallyError, UsageError
from tally.table import as_lines


def work(tables, options):
    from tally.cli import save

    (table,) = tables
    if "column" not in options:
        raise UsageError("split needs --column")
    column, prefix = table.column(options["column"]), options.get("prefix", "part-")
    parts = {}
    for row in table.rows:
        parts.setdefault(prefix + safe(row[column]) + ".csv", []).append(row)
    if not parts:
        raise TallyError("there are no rows")
    for name, rows in sorted(parts.items()):
        save(name, as_lines(table.header, rows, options))
    return as_lines(["file", "rows"], [[name, str(len(rows))] for name, rows in sorted(parts.items())], options), 0


def safe(value):
    """A value as part of a file name."""
    kept = "".join(char if char.isalnum() or char in "-_" else "_" for char in value.strip().lower())
    return kept or "empty"
