"""What a hasty reader of tally's documentation gets wrong: what the text says, the right lines, the wrong ones."""

MISREADINGS = {
    "bars are rounded": (  # hist: bars are "in proportion, rounded down"
        "        length = count * width // most\n",
        "        length = (2 * count * width + most) // (2 * most)\n",
    ),
    "unmatched rows have all columns": (  # join --keep unmatched: "without columns of RIGHT"
        '    header = left.header if keep == "unmatched" else left.header + [',
        "    header = left.header + [",
    ),
    "unique looks back one row": (  # pick --unique: "rows that, as shown, were shown before"
        "        picked = [list(row) for row in dict.fromkeys(tuple(row) for row in picked)]\n",
        "        picked = [row for n, row in enumerate(picked) if n == 0 or row != picked[n - 1]]\n",
    ),
    "reversed before it is ordered": (  # group --reverse: "turns the order around"
        '    results = ordered(results, order, function)\n    if "reverse" in options:\n        results.reverse()\n',
        '    if "reverse" in options:\n        results.reverse()\n    results = ordered(results, order, function)\n',
    ),
    "shares are cut off": (  # count --percent: one decimal; numbers: "rounding is half away from zero"
        '            row.append(show(divide((100 * count, 0), len(table.rows), 1)) + "%")\n',
        '            row.append(show((1000 * count // len(table.rows), 1)) + "%")\n',
    ),
    "ranks without gaps": (  # top --rank: "the next rank is skipped"
        "        found.append(found[-1] if n > 0 and key == keys[n - 1] else n + 1)\n",
        "        found.append(found[-1] + (key != keys[n - 1]) if n > 0 else 1)\n",
    ),
    "exit code of a bad number": (  # errors: an option with a value "that it does not take" is 2
        '        raise UsageError("option %s needs a whole number, got %s" % (option, value))\n',
        '        raise TallyError("option %s needs a whole number, got %s" % (option, value))\n',
    ),
    "open quotes": (  # errors: "a quote is not closed"
        '    if quoted:\n        raise TallyError("line %d: a quote is not closed" % number)\n',
        "",
    ),
    "unequal means other than text": (  # pick --where: numbers "are compared as numbers, else as text"
        '        "!=": difference != 0,\n',
        '        "!=": one is not None and difference != 0,\n',
    ),
    "count has one name": (  # group: the name of the column --value is part of the result's
        '    if "value" in options:\n        name',
        '    if "value" in options and function != "count":\n        name',
    ),
    "the last is the first": (  # group --function last
        "        return table.rows[rows[-1]][column]\n",
        "        return table.rows[rows[0]][column]\n",
    ),
    "integers with a point": (  # check --types: an integer is a number without a point
        "        return value is not None and value[1] == 0\n",
        "        return value is not None\n",
    ),
    "numbers stay right": (  # format --align left
        '    sides = [side(rows, n) if align == "auto" else align for n in every]\n',
        '    sides = [align if align in ("right", "center") else side(rows, n) for n in every]\n',
    ),
}
