"""What can go wrong, and the exit code that says so."""


class TallyError(Exception):
    """The data cannot be worked on: exit code 1."""

    code = 1


class UsageError(TallyError):
    """The command line is wrong: exit code 2."""

    code = 2
