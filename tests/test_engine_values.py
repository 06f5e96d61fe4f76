"""Values on the wire: what goes over comes back the same, and nonsense does no harm."""

import math
import socket

import numpy as np
import pytest

from grader.engine.far.decoding import Decoder, copy_into
from grader.engine.far.encoding import Encoder
from grader.engine.far.values import Owned
from grader.engine.far.wire import HEAD, MAGIC, Garbled, Gone, Late, Line, TooMuch, pair
from transformer_block.config import llama_config


def over(value):
    """Encode a value and decode it again, as the other side would."""
    encoder = Encoder(Owned())
    tree = encoder.encode(value)
    return Decoder(Owned(), lambda number, facts, plain: facts, bytearray(b"".join(encoder.parts)))(
        tree
    )


def arrays():
    base = np.arange(2 * 3 * 5, dtype=np.float64).reshape(2, 3, 5)
    yield "plain", base
    yield "transposed", base.transpose(2, 0, 1)
    yield "fortran", np.asfortranarray(base)
    yield "strided", base[:, ::2, 1::2]
    yield "backwards", base[::-1, :, ::-1]
    yield "broadcast", np.broadcast_to(base[0, 0], (4, 5))
    yield "empty", base[:, :0]
    yield "no axis", np.array(3.5)
    yield "nan", np.array([math.nan, -math.inf, -0.0])
    for dtype in ("?", "i1", "u8", "f2", "f4", ">f8", "c16", "g"):
        yield dtype, np.array([[0, 1, 3]]).astype(dtype)


@pytest.mark.parametrize("array", [pytest.param(a, id=name) for name, a in arrays()])
def test_an_array_arrives_with_its_values_its_type_and_its_layout(array):
    came = over(array)
    assert came.dtype == array.dtype
    np.testing.assert_array_equal(came, array)
    assert came.flags.c_contiguous == array.flags.c_contiguous
    assert came.flags.f_contiguous == array.flags.f_contiguous
    assert came.flags.writeable == array.flags.writeable


def test_an_array_that_cannot_be_written_to_arrives_as_one():
    array = np.ones(3)
    array.flags.writeable = False
    assert not over(array).flags.writeable


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -(2**200),
        0.1,
        math.inf,
        2 + 3j,
        "ñ\ud800\n",
        b"\0\xff",
        [1, (2.0, "x"), {"a": None, 3: [..., slice(1, None, 2)]}],
        {1, 2},
        range(1, 9, 2),
        np.dtype("float32"),
        np.float16,
        float,
    ],
)
def test_plain_data_arrives_as_it_went(value):
    came = over(value)
    assert came == value
    assert type(came) is type(value)


@pytest.mark.parametrize("scalar", [np.float64(0.1), np.float32(0.1), np.int8(-3), np.bool_(True)])
def test_a_scalar_of_numpy_stays_one(scalar):
    assert type(over(scalar)) is type(scalar)
    assert over(scalar) == scalar


def test_a_generator_goes_on_where_it_was():
    rng = np.random.default_rng(3)
    rng.normal(size=5)
    assert over(rng).normal() == rng.normal()


def test_the_course_s_own_dataclasses_arrive_as_themselves():
    config = llama_config(d=8, n_layers=1, n_heads=2, n_kv_heads=1, h=16, V=5)
    assert over(config) == config


class Sneaky(np.ndarray):
    pass


class Pair(tuple):
    __slots__ = ()


def test_a_subclass_of_an_array_arrives_as_a_plain_one():
    assert type(over(np.ones(3).view(Sneaky))) is np.ndarray


def test_what_cannot_cross_is_named_and_kept():
    facts = over(lambda: 3)
    assert facts == {"kind": "function", "name": "<lambda>", "callable": True, "texts": None}
    owned = Owned()
    thing = Pair([1, 2])
    tree = Encoder(owned).encode(thing)
    assert owned[tree["n"]] is thing
    assert Decoder(owned, None, b"")({"t": "yours", "n": tree["n"]}) is thing


def test_what_is_too_deep_or_has_no_end_does_not_go():
    endless = []
    endless.append(endless)
    with pytest.raises(TooMuch):
        over(endless)
    with pytest.raises(TooMuch):
        over([0] * 300_000)


@pytest.mark.parametrize(
    "tree",
    [
        {"t": "array", "d": "<f8", "s": [3], "o": [0], "g": False, "w": True, "n": [0, 8]},
        {"t": "array", "d": "<f8", "s": [-1], "o": [0], "g": False, "w": True, "n": [0, 8]},
        {"t": "array", "d": "<f8", "s": [1], "o": [1], "g": False, "w": True, "n": [0, 8]},
        {"t": "array", "d": "|O", "s": [1], "o": [0], "g": False, "w": True, "n": [0, 8]},
        {"t": "array", "d": "<f8", "s": [1], "o": [0], "g": False, "w": True, "n": [-8, 8]},
        {"t": "array", "d": "<f8", "s": [1], "o": [0], "g": False, "w": True, "n": [0, 80]},
        {"t": "array", "d": "<f8"},
        {"t": "record", "c": "os.system", "v": {"t": "dict", "v": []}},
        {"t": "record", "c": "transformer_block.config.Path", "v": {"t": "dict", "v": []}},
        {"t": "yours", "n": 0},
        {"t": "yours", "n": -1},
        {"t": "mine", "n": "x", "k": "a", "f": "b", "c": False},
        {"t": "__class__"},
        {"t": "type", "v": "eval"},
        {"t": "dict", "v": [[{"t": "list", "v": []}, 1]]},
        {"t": "rng", "v": {"t": "dict", "v": []}},
        {"x": 1},
        [1],
    ],
)
def test_a_tree_that_means_nothing_is_refused(tree):
    with pytest.raises(Garbled):
        Decoder(Owned(), lambda *facts: facts, bytearray(8))(tree)


def test_frames_go_over_whole_and_nonsense_ends_the_talk():
    here, there = pair()
    Line(here).send({"k": 1}, [b"abc", memoryview(b"de")])
    assert Line(there).receive() == ({"k": 1}, b"abcde")
    for nonsense in (
        b"x" * HEAD.size,
        HEAD.pack(MAGIC, 1 << 30, 0),
        HEAD.pack(MAGIC, 2, 0) + b"{]",
    ):
        here.sendall(nonsense)
        with pytest.raises(Garbled):
            Line(there).receive()
    here.close()
    with pytest.raises(Gone):
        Line(there).receive()
    there.close()


def test_who_says_nothing_is_late():
    here, there = socket.socketpair()
    line = Line(here)
    line.deadline = 0.0
    with pytest.raises(Late):
        line.receive()
    here.close()
    there.close()


def test_changes_are_made_in_place_where_there_is_a_place():
    array = np.zeros(3)
    old = {"x": array, "n": [1, 2]}
    inner = old["n"]
    assert copy_into(old, {"x": np.ones(3), "n": [5]})
    assert old["x"] is array
    assert array.tolist() == [1, 1, 1]
    assert old["n"] is inner
    assert inner == [5]
    assert not copy_into(array, np.ones(4))
