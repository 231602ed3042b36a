"""Delimited text to tables and back: quotes, blank lines, headers, columns by name or number."""

from tally.errors import TallyError, UsageError


class Table:
    """Column names, rows of fields, and the line number of each row."""

    def __init__(self, header, rows, numbers):
        self.header = header
        self.rows = rows
        self.numbers = numbers

    def column(self, word):
        """Index of the column that is called `word`, or has that number (from 1)."""
        if word in self.header:
            return self.header.index(word)
        if word.isdecimal() and len(word) < 6 and 1 <= int(word) <= len(self.header):
            return int(word) - 1
        raise UsageError("unknown column: %s" % word)

    def columns(self, words):
        """Indices of a comma-separated list of columns and ranges such as 2-4."""
        found = []
        for word in words.split(","):
            first, dash, last = word.partition("-")
            if dash and word not in self.header and first.isdecimal() and last.isdecimal():
                start, end = self.column(first), self.column(last)
                step = 1 if end >= start else -1
                found += range(start, end + step, step)
            else:
                found.append(self.column(word))
        return found


def read_table(text, delimiter, has_header, strict):
    """The table that `text` holds. With `strict`, rows of another length than the first are an error."""
    header, rows, numbers = None, [], []
    for number, line in enumerate(text.split("\n"), 1):
        line = line[:-1] if line.endswith("\r") else line
        if not line.strip():
            continue
        fields = split_line(line, delimiter, number)
        if header is None:
            header = fields if has_header else ["c%d" % n for n in range(1, len(fields) + 1)]
            if has_header:
                continue
        if strict and len(fields) != len(header):
            raise TallyError("line %d: expected %d fields, found %d" % (number, len(header), len(fields)))
        rows.append(fields)
        numbers.append(number)
    if header is None:
        raise TallyError("the input is empty")
    return Table(header, rows, numbers)


def split_line(line, delimiter, number):
    """The fields of one line. A field in double quotes may hold the delimiter; two quotes stand for one."""
    fields, field, at, quoted = [], "", 0, False
    while at < len(line):
        char = line[at]
        at += 1
        if quoted:
            if char != '"':
                field += char
            elif line[at : at + 1] == '"':
                field += '"'
                at += 1
            else:
                quoted = False
        elif char == '"' and not field:
            quoted = True
        elif char == delimiter:
            fields.append(field)
            field = ""
        else:
            field += char
    if quoted:
        raise TallyError("line %d: a quote is not closed" % number)
    fields.append(field)
    return fields


def join_fields(fields, delimiter):
    """One line of fields, those in quotes that need them."""
    return delimiter.join(quote(field, delimiter) for field in fields)


def quote(field, delimiter):
    """A field as it is written."""
    if delimiter in field or '"' in field or (field != field.strip() and delimiter != " "):
        return '"' + field.replace('"', '""') + '"'
    return field


def as_lines(header, rows, options):
    """Delimited lines of a result; no header line where the input had none."""
    delimiter = options["delimiter"]
    body = [join_fields(row, delimiter) for row in rows]
    return body if "no-header" in options else [join_fields(header, delimiter)] + body
