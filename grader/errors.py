"""What a user can do about: errors whose text is one line, and the exit code they give."""


class UserError(Exception):
    """Something failed that the user can mend; the text says what, where and what to do."""

    exit_code = 1


class UsageError(UserError):
    """The command was used wrongly: a wrong verb, path or name."""

    exit_code = 2


class BuildError(UserError):
    """Say in one line which file and cell cannot be built, and why."""
