"""The command line: which command, its options, where the table comes from and where the lines go."""

import sys

from tally.errors import TallyError, UsageError

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
        from tally.help import help_lines

        return help_lines(command), 0
    if command not in COMMANDS:
        raise UsageError("unknown command: %s" % command)
    options, files = parse(rest, {**COMMON, **COMMANDS[command]})
    tables = read_tables(command, options, files)
    lines, code = work_of(command)(tables, options)
    if "output" in options:
        return save(options["output"], lines), code
    return lines, code


def work_of(command):
    """The function that does a command. Only its module is loaded, so that every command starts fast."""
    if command == "count":
        from tally.count_command import work
    elif command == "sum":
        from tally.sum_command import work
    elif command == "group":
        from tally.group_command import work
    elif command == "top":
        from tally.top_command import work
    elif command == "join":
        from tally.join_command import work
    elif command == "format":
        from tally.format_command import work
    elif command == "pick":
        from tally.pick_command import work
    elif command == "hist":
        from tally.hist_command import work
    elif command == "check":
        from tally.check_command import work
    else:
        from tally.split_command import work
    return work


def parse(words, known):
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
    from tally.table import read_table

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
