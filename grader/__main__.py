"""The command ``python -m grader``; a worker imports this file too, and needs nothing of it."""

import sys

from grader.lean import leave_out

leave_out()

if __name__ == "__main__":
    from grader.cli import main

    sys.exit(main())
