"""What a graded cell needs before it runs on the marking side: which cells, and whose names."""

from grader.engine.roles import ANSWER, FREE, HAND, LOCKED


def plan(cells, cell):
    """Return the cells to run for a graded one, that one last, each with the names it needs.

    Parameters
    ----------
    cells : sequence of MasterCell
        All of a master's.
    cell : MasterCell
        The graded one.

    Returns
    -------
    steps : tuple of (MasterCell, tuple of str)
        Locked cells that define what is needed, in their order, and the graded cell. The names
        are those that the student's notebook defines, sorted.
    """
    wanted, queue = {cell.name: cell}, [cell]
    while queue:
        this = queue.pop()
        for name in this.names[1]:
            source = _source_of(name, cells, this)
            if source is not None and source.role == LOCKED and source.name not in wanted:
                wanted[source.name] = source
                queue.append(source)
    return tuple((c, _students_names(cells, c)) for c in cells if wanted.get(c.name) is c)


def _students_names(cells, cell):
    """Return the names that a cell needs and that the student's notebook defines."""
    sources = ((name, _source_of(name, cells, cell)) for name in cell.names[1])
    return tuple(
        sorted(n for n, source in sources if source is None or source.role in (ANSWER, FREE, HAND))
    )


def _source_of(name, cells, cell):
    """Return the last of the cells before this one that defines a name."""
    before = reversed(cells[: cells.index(cell)])
    return next((cell for cell in before if name in cell.names[0]), None)
