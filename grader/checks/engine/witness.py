"""Inputs that show mistakes: no two axes alike, no mean at zero, no gain at one."""

LEADING = (2, 3)
WIDTHS = (5, 7, 11, 13)


def shape(rng, leading=1):
    """Draw a shape of distinct primes with this many leading axes before the width d."""
    axes = rng.permutation(LEADING)[:leading]
    return (*map(int, axes), int(rng.choice(WIDTHS)))


def rows(rng, shape, scale=1.0):
    """Draw rows whose mean is not zero and whose entries differ in size and sign."""
    return scale * (rng.normal(size=shape) + rng.choice([-0.4, 0.4]))


def uneven_rows(rng, shape):
    """Draw rows whose scales differ by orders of magnitude, so that each must stand alone."""
    return rows(rng, shape) * 10.0 ** rng.uniform(-2, 2, size=(*shape[:-1], 1))


def gain(rng, d):
    """Draw a gain that is far from one, of both signs."""
    return rng.uniform(1.2, 2.5, size=d) * rng.choice([-1.0, 1.0], size=d)
