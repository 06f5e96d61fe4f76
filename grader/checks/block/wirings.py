"""Wrong wirings of two norms and two sublayers, whatever these compute.

Each takes the rows and an object with ``norm1``, ``attn``, ``norm2`` and ``net``: the functions of
rows that a block is put together from.
"""


def right(x, p):
    """Wire the block as (22.1) says."""
    u = x + p.attn(p.norm1(x))
    return u + p.net(p.norm2(u))


def first_half(wire):
    """Keep the second half right behind a first half that is wired wrongly."""

    def whole(x, p):
        u = wire(x, p)
        return u + p.net(p.norm2(u))

    return whole


def second_half(wire):
    """Wire the second half wrongly: a function of x, of the stream u, and of the parts."""
    return lambda x, p: wire(x, x + p.attn(p.norm1(x)), p)


def post_norm(x, p):
    """Normalise each sum."""
    u = p.norm1(x + p.attn(x))
    return p.norm2(u + p.net(u))


def stream_normalised(x, p):
    """Carry the normalised copy on, in both halves."""
    x = p.norm1(x)
    x = x + p.attn(x)
    x = p.norm2(x)
    return x + p.net(x)


def net_first(x, p):
    """Exchange the halves."""
    v = x + p.net(p.norm2(x))
    return v + p.attn(p.norm1(v))


def no_residuals(x, p):
    """Add nothing back."""
    return p.net(p.norm2(p.attn(p.norm1(x))))


first_stream_normalised = first_half(lambda x, p: p.norm1(x) + p.attn(p.norm1(x)))
second_stream_normalised = second_half(lambda x, u, p: p.norm2(u) + p.net(p.norm2(u)))
attention_reads_raw = first_half(lambda x, p: x + p.attn(x))
net_reads_raw = second_half(lambda x, u, p: u + p.net(u))
net_reads_x = second_half(lambda x, u, p: u + p.net(p.norm2(x)))
second_adds_to_x = second_half(lambda x, u, p: x + p.net(p.norm2(u)))
no_first_residual = first_half(lambda x, p: p.attn(p.norm1(x)))
no_second_residual = second_half(lambda x, u, p: p.net(p.norm2(u)))
