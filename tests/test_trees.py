"""Trees of arrays: every place is met once, and names lead back to places."""

import numpy as np
import pytest

from transformer_block._trees import flatten, tree_map, unflatten

TREE = {"embedding": 1, "blocks": [{"W_q": 2, "W_o": 3}, {"W_q": 4, "W_o": 5}], "norm": 6}


def test_a_function_meets_the_arrays_of_all_trees_place_by_place():
    found = tree_map(lambda a, b: a + 10 * b, TREE, tree_map(lambda a: -a, TREE))
    want = {"embedding": -9, "blocks": [{"W_q": -18, "W_o": -27}, {"W_q": -36, "W_o": -45}]}
    assert found == {**want, "norm": -54}


def test_names_of_places_lead_back_to_the_same_tree():
    flat = flatten(TREE)
    assert [*flat] == [
        "embedding",
        "blocks.0.W_q",
        "blocks.0.W_o",
        "blocks.1.W_q",
        "blocks.1.W_o",
        "norm",
    ]
    assert unflatten(flat) == TREE


def test_a_list_of_more_than_ten_keeps_its_order():
    tree = {"blocks": [{"w": np.full(2, i)} for i in range(12)]}
    back = unflatten(dict(sorted(flatten(tree).items())))
    assert [int(block["w"][0]) for block in back["blocks"]] == [*range(12)]


def test_trees_of_different_length_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        tree_map(lambda a, b: a, {"blocks": [1, 2]}, {"blocks": [1]})
