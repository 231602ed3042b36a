"""What a hasty reader of tally's documentation gets wrong: where the text says it, the right line, the wrong one."""

MISREADINGS = {
    "ranks without gaps": (  # top --rank: "the next rank is skipped"
        "        found.append(found[-1] if n > 0 and key == keys[n - 1] else n + 1)\n",
        "        found.append(found[-1] + (key != keys[n - 1]) if n > 0 else 1)\n",
    ),
    "exit code of a bad number": (  # errors: "an option with a value that it does not take" is 2
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
