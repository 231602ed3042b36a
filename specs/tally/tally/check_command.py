"""check: whether a table keeps the rules that it should."""

from tally.errors import UsageError
from tally.exact import parse

TYPES = ("integer", "number", "word")


def work(tables, options):
    (table,) = tables
    found = []
    types = wanted_types(table, options.get("types", ""))
    required = table.columns(options["required"]) if "required" in options else []
    unique = table.column(options["unique"]) if "unique" in options else None
    seen = {}
    for number, row in zip(table.numbers, table.rows):
        if len(row) != len(table.header):
            found.append("line %d: expected %d fields, found %d" % (number, len(table.header), len(row)))
            continue
        for column in required:
            if not row[column].strip():
                found.append("line %d: %s is missing" % (number, table.header[column]))
        for column, kind in types:
            if row[column] and not is_a(row[column], kind):
                found.append("line %d: %s is not of type %s: %s" % (number, table.header[column], kind, row[column]))
        if unique is not None:
            first = seen.setdefault(row[unique], number)
            if first != number:
                found.append("line %d: %s repeats line %d: %s" % (number, table.header[unique], first, row[unique]))
    if not found:
        return ["ok: %d rows, %d columns" % (len(table.rows), len(table.header))], 0
    most = options.get("most", len(found))
    lines = found[:most]
    if len(found) > most:
        lines.append("and %d more" % (len(found) - most))
    return lines + ["%d problem%s" % (len(found), "" if len(found) == 1 else "s")], 1


def wanted_types(table, text):
    """Pairs of column and type of a list such as id=integer,name=word."""
    pairs = []
    for part in text.split(",") if text else []:
        name, equals, kind = part.partition("=")
        if not equals or kind not in TYPES:
            raise UsageError("not a type rule: %s" % part)
        pairs.append((table.column(name), kind))
    return pairs


def is_a(field, kind):
    """Whether a field is of a type."""
    value = parse(field)
    if kind == "integer":
        return value is not None and value[1] == 0
    if kind == "number":
        return value is not None
    return field.isalpha()
