"""What a backward pass needs beside its own code: the cache that a forward pass made."""


def cache_of(forward, dout, *inputs):
    """Yield the arguments ``dout, cache`` with the cache of the learner's own forward pass.

    A forward pass that raises is another exercise's trouble: nothing is yielded then.
    """
    try:
        _, cache = forward(*inputs)
    except Exception:
        return
    yield {"dout": dout, "cache": cache}
