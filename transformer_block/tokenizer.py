"""Text to token ids and back, one token per character."""

from dataclasses import dataclass

import numpy as np

from transformer_block._require import require_ids


@dataclass(frozen=True)
class CharacterTokenizer:
    """Number the characters of an alphabet in its own order.

    Attributes
    ----------
    characters : str
        The alphabet: the character at place i has id i.
    """

    characters: str

    def __post_init__(self):
        """Refuse an alphabet in which one character would have two ids."""
        if len(set(self.characters)) != len(self.characters):
            raise ValueError(f"each character may come once: got {self.characters!r}")

    def __len__(self):
        """Return V, the size of the vocabulary."""
        return len(self.characters)

    def encode(self, text):
        """Return the ids of a text, an array of int of shape (T,)."""
        place = {character: i for i, character in enumerate(self.characters)}
        strangers = sorted(set(text) - place.keys())
        if strangers:
            raise ValueError(
                f"the text must be made of {self.characters!r}: got {''.join(strangers)!r} too"
            )
        return np.array([place[character] for character in text], dtype=np.int64)

    def decode(self, ids):
        """Return the text of the ids, an array of int of shape (T,)."""
        ids = np.asarray(ids)
        require_ids("ids", ids, len(self))
        return "".join(self.characters[i] for i in ids.tolist())
