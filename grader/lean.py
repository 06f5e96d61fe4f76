"""What the packages that we use load and no command of ours needs: seconds of every start."""

import sys
from types import ModuleType

EXTENSIONS = ("assignment_list", "course_list", "formgrader", "validate_assignment")


def leave_out():
    """Keep two things from being loaded; call it before nbgrader or nbformat is imported.

    jsonschema compiles the grammar of URLs if it finds ``rfc3987_syntax``: two to three seconds
    for a check that no notebook needs. With ``None`` in its place the import fails, which
    jsonschema allows. nbgrader loads its extensions of Jupyter's server, and half of that server
    with them, whatever part of it is imported; an empty module stands for each.
    """
    sys.modules.setdefault("rfc3987_syntax", None)
    for name in EXTENSIONS:
        empty = ModuleType(f"nbgrader.server_extensions.{name}")
        empty.load_jupyter_server_extension = None
        sys.modules.setdefault(empty.__name__, empty)
