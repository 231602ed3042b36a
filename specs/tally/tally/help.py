"""The help texts."""

from tally import VERSION

GENERAL = """tally: counts, sums, groups, joins and lays out delimited text

usage: tally COMMAND [OPTION ...] [FILE]
       tally join [OPTION ...] LEFT RIGHT
       tally COMMAND --help
       tally --version

commands:
  count   how many rows, or how often each value of a column occurs
  sum     totals of numeric columns
  group   one result per distinct value of a column
  top     the rows with the greatest or smallest numbers in a column
  join    the rows of two tables that agree in a column
  format  a table laid out for reading
  pick    some columns, some rows
  hist    a bar for each part of a column's range
  check   whether a table keeps the rules that it should
  split   one file per distinct value of a column

options of every command:
  --delimiter WORD  one character, or tab, comma, semicolon, pipe, space, colon (default: comma)
  --no-header       the first line is a row; columns are called c1, c2 ...; results have no header line
  --output FILE     write the result to FILE and say so
  --help            this text, or that of the command

Without FILE, or with -, the table comes from standard input."""
COMMANDS = {
    "count": """usage: tally count [OPTION ...] [FILE]

  --column COLUMN  count the values of this column; without it, count rows and columns
  --ignore-case    take upper and lower case for the same, and show lower case
  --minimum N      leave out values that occur less often than N times
  --order ORDER    count (default: most frequent first, then by value), value, or first (first seen first)
  --percent        add the share of all rows""",
    "sum": """usage: tally sum [OPTION ...] [FILE]

  --columns LIST  columns to sum (default: every column that holds only numbers)
  --average       add the mean, with two decimals
  --extremes      add the minimum and the maximum
  --places N      round to N decimals
  --lenient       skip what is not a number, and add how many fields were skipped""",
    "group": """usage: tally group --by COLUMN [OPTION ...] [FILE]

  --by COLUMN      one result for each distinct value of this column
  --value COLUMN   what the function works on
  --function NAME  sum (default), mean, least, greatest, range, count, first, last
  --order ORDER    first (default: first seen first), key, or value
  --reverse        turn the order around
  --places N       round to N decimals
  --total          add a last line over all rows""",
    "top": """usage: tally top --column COLUMN [OPTION ...] [FILE]

  --column COLUMN  the column to rank by
  --keep N         how many rows (default: 5)
  --lowest         smallest first
  --ties           keep the rows that equal the last one, too
  --rank           add the rank; equal numbers share one""",
    "join": """usage: tally join --on COLUMN [OPTION ...] LEFT RIGHT

  --on COLUMN        the column that must agree
  --right-on COLUMN  its name in the right table, where it differs
  --keep WHICH       both (default: rows with a partner), left (all rows of LEFT), unmatched (rows without a partner)
  --fill TEXT        what --keep left writes where there is no partner""",
    "format": """usage: tally format [OPTION ...] [FILE]

  --style STYLE  plain (default), border, markdown
  --align SIDE   auto (default: numbers right, the rest left), left, right, center
  --gap N        blanks between columns of the plain style (default: 2)
  --limit N      cut fields to N characters; a cut field ends in ~
  --number       number the rows""",
    "pick": """usage: tally pick [OPTION ...] [FILE]

  --columns LIST     columns to show, in this order; ranges such as 2-4 are possible
  --exclude LIST     columns to leave out
  --where CONDITION  rows to show: COLUMN, an operator (= != < <= > >= ~) and a value; ~ means contains
  --unique           leave out rows that were shown before""",
    "hist": """usage: tally hist --column COLUMN [OPTION ...] [FILE]

  --column COLUMN  the column to draw
  --bins N         how many bars (default: 5)
  --width N        length of the longest bar (default: 30)
  --symbol CHAR    what bars are made of (default: *)
  --cumulative     each bar also counts those above it""",
    "check": """usage: tally check [OPTION ...] [FILE]

  --types LIST     types of columns, as in id=integer,name=word: integer, number, word
  --unique COLUMN  no value may occur twice in this column
  --required LIST  no field may be empty in these columns
  --most N         show the first N problems only""",
    "split": """usage: tally split --column COLUMN [OPTION ...] [FILE]

  --column COLUMN  one file for each distinct value of this column
  --prefix TEXT    how the files' names begin (default: part-)""",
}


def help_lines(command):
    """The lines of a help text, or the version."""
    if command == "--version":
        return ["tally " + VERSION]
    return COMMANDS.get(command, GENERAL).split("\n")
