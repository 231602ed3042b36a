"""format: a table laid out for reading."""

from tally.errors import UsageError
from tally.exact import parse

STYLES = ("plain", "border", "markdown")
ALIGNS = ("auto", "left", "right", "center")


def work(tables, options):
    (table,) = tables
    style, align = options.get("style", "plain"), options.get("align", "auto")
    if style not in STYLES:
        raise UsageError("unknown style: %s" % style)
    if align not in ALIGNS:
        raise UsageError("unknown alignment: %s" % align)
    limit = options.get("limit", 0)
    header, rows = table.header, table.rows
    if "number" in options:
        header = ["#"] + header
        rows = [[str(n)] + row for n, row in enumerate(rows, 1)]
    header = [cut(field, limit) for field in header]
    rows = [[cut(field, limit) for field in row] for row in rows]
    shown = rows if "no-header" in options and style != "markdown" else [header] + rows
    every = range(len(header))
    widths = [max([len(row[n]) for row in shown], default=0) for n in every]
    sides = [side(rows, n) if align == "auto" else align for n in every]
    laid = [[place(row[n], widths[n], sides[n]) for n in every] for row in shown]
    if style == "markdown":
        return markdown(laid, widths, sides), 0
    if style == "border":
        return border(laid, widths, "no-header" not in options), 0
    gap = " " * options.get("gap", 2)
    return [gap.join(cells).rstrip() for cells in laid], 0


def cut(field, limit):
    """A field of at most `limit` characters (0: any); one that was cut ends in a tilde."""
    return field[: limit - 1] + "~" if 0 < limit < len(field) else field


def side(rows, column):
    """right for a column in which every field is a number or empty, else left."""
    fields = [row[column] for row in rows if row[column]]
    return "right" if fields and all(parse(field) is not None for field in fields) else "left"


def place(field, width, where):
    """A field in its cell."""
    space = width - len(field)
    before = {"left": 0, "right": space, "center": space // 2}[where]
    return " " * before + field + " " * (space - before)


def markdown(laid, widths, sides):
    """Rows between pipes; the second line marks the alignment with colons."""
    marks = []
    for width, where in zip(widths, sides):
        dashes = "-" * max(width, 3)
        marks.append({"left": dashes, "right": dashes[1:] + ":", "center": ":" + dashes[2:] + ":"}[where])
    lines = ["| " + " | ".join(cell.ljust(3) for cell in cells) + " |" for cells in laid]
    return [lines[0], "| " + " | ".join(marks) + " |"] + lines[1:]


def border(laid, widths, has_header):
    """Rows in a box."""
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    lines = ["| " + " | ".join(cells) + " |" for cells in laid]
    if has_header and len(lines) > 1:
        lines.insert(1, rule)
    return [rule] + lines + [rule]
