"""Nested dicts and lists of arrays, as a model's parameters are: every array in turn, by name."""


def tree_map(f, tree, *others):
    """Call ``f`` with the arrays that stand at the same place; return a tree of the results."""
    if isinstance(tree, dict):
        return {key: tree_map(f, tree[key], *(other[key] for other in others)) for key in tree}
    if isinstance(tree, list):
        return [tree_map(f, *places) for places in zip(tree, *others, strict=True)]
    return f(tree, *others)


def flatten(tree, prefix=""):
    """Return one dict of all arrays, named like ``blocks.0.W_q``."""
    if not isinstance(tree, dict | list):
        return {prefix: tree}
    flat = {}
    for key, branch in tree.items() if isinstance(tree, dict) else enumerate(tree):
        flat |= flatten(branch, f"{prefix}.{key}" if prefix else str(key))
    return flat


def unflatten(flat):
    """Undo `flatten`: names of digits alone become places in a list."""
    if "" in flat:
        return flat[""]
    branches = {}
    for name, array in flat.items():
        key, _, rest = name.partition(".")
        branches.setdefault(key, {})[rest] = array
    if all(key.isdigit() for key in branches):
        return [unflatten(branches[key]) for key in sorted(branches, key=int)]
    return {key: unflatten(branch) for key, branch in branches.items()}
