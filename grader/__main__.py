"""The command ``python -m grader``."""

import sys

# jsonschema compiles the grammar of URLs if it finds this package: two to three seconds for a
# check that no notebook needs. With None in its place the import fails, which jsonschema allows.
sys.modules.setdefault("rfc3987_syntax", None)

from grader.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
