"""tally, written anew from its documentation: what the commands share, the commands, the command line."""

import sys

HELP = {}  # filled in from /app/docs/help: the lines of each text


class TallyError(Exception):
    """The data cannot be worked on: exit code 1."""

    code = 1


class UsageError(TallyError):
    """The command line is wrong: exit code 2."""

    code = 2


LONGEST = 30


def number_of(text):
    """The number that `text` is, or None: an optional sign, digits, and a point with digits."""
    body = text.strip()
    sign = -1 if body.startswith("-") else 1
    if body[:1] in ("+", "-"):
        body = body[1:]
    whole, point, part = body.partition(".")
    if not (whole + part).isdecimal() or not body.isascii() or len(body) > LONGEST:
        return None
    if point and not part or not whole:
        return None
    return sign * int(whole + part), len(part)


def number_at(table, row, column):
    """The number in a field of a table. Raises TallyError where it is none."""
    text = table.rows[row][column]
    value = number_of(text)
    if value is None:
        raise TallyError("line %d: not a number: %s" % (table.numbers[row], text))
    return value


def scaled(value, scale):
    """The digits of `value` at a scale that is not smaller than its own."""
    return value[0] * 10 ** (scale - value[1])


def compare(one, two):
    """Negative, zero or positive as `one` is below, equal to or above `two`."""
    scale = max(one[1], two[1])
    return scaled(one, scale) - scaled(two, scale)


def sort_key(values):
    """Digits of every value at one scale: they sort and compare as the numbers do."""
    scale = max([value[1] for value in values], default=0)
    return [scaled(value, scale) for value in values]


def total(values):
    """The sum, with as many decimals as the most precise value."""
    scale = max([value[1] for value in values], default=0)
    return sum(scaled(value, scale) for value in values), scale


def subtract(one, two):
    """The difference."""
    return total([one, (-two[0], two[1])])


def divide(value, count, places):
    """`value` / `count` with `places` decimals, halves rounded away from zero."""
    digits, scale = value
    top = abs(digits) * 10**places * 2
    bottom = count * 10**scale
    result = (top + bottom) // (2 * bottom)
    return (result if digits >= 0 else -result), places


def rounded(value, places):
    """`value` with exactly `places` decimals."""
    return divide(value, 1, places)


def show(value):
    """The number as text."""
    digits, scale = value
    text = str(abs(digits)).rjust(scale + 1, "0")
    sign = "-" if digits < 0 else ""
    if scale == 0:
        return sign + text
    return sign + text[:-scale] + "." + text[-scale:]


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


ORDERS = ("count", "value", "first")


def do_count(tables, options):
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


def do_sum(tables, options):
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
    return [n for n in every if table.rows and all(number_of(row[n]) is not None for row in table.rows)]


def summary(table, column, options):
    """One output row."""
    if "lenient" in options:
        found = [number_of(row[column]) for row in table.rows]
        values = [value for value in found if value is not None]
    else:
        values = [number_at(table, n, column) for n in range(len(table.rows))]
    places = options.get("places")
    result = [table.header[column], str(len(values)), figure(total(values), places)]
    if "average" in options:
        mean = divide(total(values), len(values), 2 if places is None else places) if values else None
        result.append("-" if mean is None else show(mean))
    if "extremes" in options:
        keys = sort_key(values)
        result += [figure(values[keys.index(pick(keys))], places) if values else "-" for pick in (min, max)]
    if "lenient" in options:
        result.append(str(len(table.rows) - len(values)))
    return result


def figure(value, places):
    """A number, rounded where the user asked for it."""
    return show(value if places is None else rounded(value, places))


FUNCTIONS = ("sum", "mean", "least", "greatest", "range", "count", "first", "last")


def do_group(tables, options):
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
    return as_lines([table.header[by], name], [[key, result_text(value)] for key, value in results], options), 0


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


def result_text(value):
    """A result as text."""
    return value if isinstance(value, str) else show(value)


def do_top(tables, options):
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


def do_join(tables, options):
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


STYLES = ("plain", "border", "markdown")
ALIGNS = ("auto", "left", "right", "center")


def do_format(tables, options):
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
    return "right" if fields and all(number_of(field) is not None for field in fields) else "left"


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


OPERATORS = ("!=", "<=", ">=", "=", "<", ">", "~")


def do_pick(tables, options):
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
    one, two = number_of(field), number_of(wanted)
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


def do_hist(tables, options):
    (table,) = tables
    if "column" not in options:
        raise UsageError("hist needs --column")
    bins, width, symbol = options.get("bins", 5), options.get("width", 30), options.get("symbol", "*")
    if bins < 1 or width < 1 or len(symbol) != 1:
        raise UsageError("hist needs at least one bin, a width of at least 1 and a symbol of one character")
    column = table.column(options["column"])
    values = [number_at(table, n, column) for n in range(len(table.rows))]
    if not values:
        raise TallyError("there are no rows")
    keys = sort_key(values)
    scale = max(value[1] for value in values)
    low, high = min(keys), max(keys)
    counts = [0] * bins
    for key in keys:
        counts[bins - 1 if key == high else (key - low) * bins // (high - low)] += 1
    if "cumulative" in options:
        for n in range(1, bins):
            counts[n] += counts[n - 1]
    labels = [edge(low, high, n, bins, scale) + ".." + edge(low, high, n + 1, bins, scale) for n in range(bins)]
    wide, most = max(len(label) for label in labels), max(counts)
    digits = len(str(most))
    lines = []
    for label, count in zip(labels, counts):
        length = count * width // most
        if count > 0 and length == 0:
            length = 1
        lines.append((label.rjust(wide) + "  " + str(count).rjust(digits) + "  " + symbol * length).rstrip())
    return lines, 0


def edge(low, high, n, bins, scale):
    """Where bin `n` begins, with one decimal more than the data, cut off."""
    digits = low * 10 + (high - low) * 10 * n // bins
    return show((digits, scale + 1))


TYPES = ("integer", "number", "word")


def do_check(tables, options):
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
    value = number_of(field)
    if kind == "integer":
        return value is not None and value[1] == 0
    if kind == "number":
        return value is not None
    return field.isalpha()


def do_split(tables, options):
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


FLAG, TEXT, NUMBER = "flag", "text", "number"
COMMON = {"--delimiter": TEXT, "--no-header": FLAG, "--output": TEXT}
COMMANDS = {
    "count": {"--column": TEXT, "--ignore-case": FLAG, "--minimum": NUMBER, "--order": TEXT, "--percent": FLAG},
    "sum": {"--columns": TEXT, "--average": FLAG, "--extremes": FLAG, "--places": NUMBER, "--lenient": FLAG},
    "group": {
        "--by": TEXT, "--value": TEXT, "--function": TEXT, "--order": TEXT, "--reverse": FLAG, "--places": NUMBER,
        "--total": FLAG,
    },
    "top": {"--column": TEXT, "--keep": NUMBER, "--lowest": FLAG, "--ties": FLAG, "--rank": FLAG},
    "join": {"--on": TEXT, "--right-on": TEXT, "--keep": TEXT, "--fill": TEXT},
    "format": {"--style": TEXT, "--align": TEXT, "--gap": NUMBER, "--limit": NUMBER, "--number": FLAG},
    "pick": {"--columns": TEXT, "--exclude": TEXT, "--where": TEXT, "--unique": FLAG},
    "hist": {"--column": TEXT, "--bins": NUMBER, "--width": NUMBER, "--symbol": TEXT, "--cumulative": FLAG},
    "check": {"--types": TEXT, "--unique": TEXT, "--required": TEXT, "--most": NUMBER},
    "split": {"--column": TEXT, "--prefix": TEXT},
}
DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " ", "colon": ":"}


def main():
    """Run one command; returns the exit code."""
    try:
        lines, code = run(sys.argv[1:])
    except TallyError as error:
        sys.stderr.write("tally: %s\n" % error)
        return error.code
    sys.stdout.buffer.write(encoded(lines))
    sys.stdout.buffer.flush()
    return code


def run(words):
    """Output lines and exit code of a command line."""
    if not words:
        raise UsageError("no command given; try tally --help")
    command, rest = words[0], words[1:]
    if command in ("--help", "--version") or "--help" in rest:
        return HELP.get(command + "_--help", HELP.get(command, HELP["--help"])), 0
    if command not in COMMANDS:
        raise UsageError("unknown command: %s" % command)
    options, files = options_of(rest, {**COMMON, **COMMANDS[command]})
    tables = read_tables(command, options, files)
    lines, code = globals()["do_" + command](tables, options)
    if "output" in options:
        return save(options["output"], lines), code
    return lines, code


def options_of(words, known):
    """Options by name, and the remaining words."""
    options, files = {}, []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            files += words[at:]
            break
        if not word.startswith("--"):
            files.append(word)
            continue
        option, equals, value = word.partition("=")
        if option not in known:
            raise UsageError("unknown option: %s" % option)
        if known[option] == FLAG:
            if equals:
                raise UsageError("option %s takes no value" % option)
            value = True
        elif not equals:
            if at >= len(words):
                raise UsageError("option %s needs a value" % option)
            value = words[at]
            at += 1
        if known[option] == NUMBER:
            value = whole_number(option, value)
        options[option[2:]] = value
    return options, files


def whole_number(option, value):
    """The value of a counting option."""
    if not value.isdecimal() or not value.isascii() or len(value) > 6:
        raise UsageError("option %s needs a whole number, got %s" % (option, value))
    return int(value)


def read_tables(command, options, files):
    """The tables that a command works on: two for join, else one."""

    word = options.get("delimiter", "comma")
    delimiter = DELIMITERS.get(word, word)
    if len(delimiter) != 1 or delimiter == '"':
        raise UsageError("the delimiter must be one character, got %s" % word)
    options["delimiter"] = delimiter
    wanted = 2 if command == "join" else 1
    if len(files) > wanted or (wanted == 2 and len(files) < 2):
        raise UsageError("%s reads %d file%s, got %d" % (command, wanted, "s" if wanted > 1 else "", len(files)))
    strict = command != "check"
    return [read_table(text_of(name), delimiter, "no-header" not in options, strict) for name in files or ["-"]]


def text_of(name):
    """The text of a file, or of standard input for `-`."""
    if name == "-":
        data = sys.stdin.buffer.read()
    else:
        try:
            with open(name, "rb") as file:
                data = file.read()
        except OSError:
            raise TallyError("cannot read %s" % name) from None
    return data.decode("utf-8", "surrogateescape")


def save(name, lines):
    """Write the lines to a file; returns the line that says so."""
    try:
        with open(name, "wb") as file:
            file.write(encoded(lines))
    except OSError:
        raise TallyError("cannot write %s" % name) from None
    return ["wrote %d line%s to %s" % (len(lines), "" if len(lines) == 1 else "s", name)]


def encoded(lines):
    """Lines as bytes, each ended by a newline."""
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")


if __name__ == "__main__":
    sys.exit(main())
