"""join: the rows of two tables that agree in a column."""

from tally.errors import UsageError
from tally.table import as_lines


def work(tables, options):
    left, right = tables
    keep, fill = options.get("keep", "both"), options.get("fill", "")
    if "on" not in options:
        raise UsageError("join needs --on")
    if keep not in ("both", "left", "unmatched"):
        raise UsageError("--keep must be both, left or unmatched, got %s" % keep)
    left_key = left.column(options["on"])
    right_key = right.column(options.get("right-on", options["on"]))
    others = [n for n in range(len(right.header)) if n != right_key]
    partners = {}
    for row in right.rows:
        partners.setdefault(row[right_key], []).append(row)
    rows = []
    for row in left.rows:
        found = partners.get(row[left_key], [])
        if keep == "unmatched":
            rows += [] if found else [row]
        elif found:
            rows += [row + [partner[n] for n in others] for partner in found]
        elif keep == "left":
            rows.append(row + [fill] * len(others))
    header = left.header if keep == "unmatched" else left.header + [fresh(right.header[n], left.header) for n in others]
    return as_lines(header, rows, options), 0


def fresh(name, taken):
    """A column name of the right table that the left one does not use."""
    return "right_" + name if name in taken else name
