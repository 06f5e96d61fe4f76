"""The command ``python -m grader``."""

import sys

from grader.lean import leave_out

leave_out()

from grader.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
