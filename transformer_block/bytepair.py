"""Text to token ids and back for pretrained models: byte-level byte-pair encoding."""

from dataclasses import dataclass

import numpy as np

CONTROL = 3  # the type of a token that stands for no text, such as the end of an answer
SPLITS_DIGITS = {"smollm": True, "gpt-2": False}  # by the name of the file's splitting rule


@dataclass(frozen=True)
class BytePairTokenizer:
    """Cut text into the pieces that a pretrained model was trained on.

    Attributes
    ----------
    encoder : tokenizers.Tokenizer
        Does the work.
    end : int
        The id of the token that ends a text.
    """

    encoder: object
    end: int

    def __len__(self):
        """Return V, the size of the vocabulary."""
        return self.encoder.get_vocab_size()

    def encode(self, text):
        """Return the ids of a text, an array of int of shape (T,)."""
        return np.array(self.encoder.encode(text).ids, dtype=np.int64)

    def decode(self, ids):
        """Return the text of the ids, an array of int of shape (T,)."""
        return self.encoder.decode(np.asarray(ids).tolist(), skip_special_tokens=False)


def tokenizer_from(fields):
    """Build the tokenizer that the metadata of a GGUF file describes.

    Parameters
    ----------
    fields : dict
        The metadata: name to value.

    Returns
    -------
    tokenizer : BytePairTokenizer
        With the file's vocabulary, merges and control tokens.

    Raises
    ------
    ValueError
        If the file's tokenizer is of another kind, or splits text by an unknown rule.
    KeyError
        If a part is missing.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    kind, rule = fields["tokenizer.ggml.model"], fields.get("tokenizer.ggml.pre", "gpt-2")
    if kind != "gpt2" or rule not in SPLITS_DIGITS:
        raise ValueError(
            f"the tokenizer must be 'gpt2' with one of {', '.join(SPLITS_DIGITS)}: "
            f"got {kind!r} with {rule!r}"
        )
    tokens = fields["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in fields["tokenizer.ggml.merges"]]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    try:
        encoder = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    except Exception as error:  # the package has no narrower kind
        raise ValueError(f"the vocabulary and the merges must fit: {error}") from error
    digits = [pre_tokenizers.Digits(individual_digits=True)] if SPLITS_DIGITS[rule] else []
    encoder.pre_tokenizer = pre_tokenizers.Sequence(
        [*digits, pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    encoder.decoder = decoders.ByteLevel()
    types = fields["tokenizer.ggml.token_type"]
    control = [token for token, kind in zip(tokens, types, strict=True) if kind == CONTROL]
    encoder.add_special_tokens([AddedToken(token, normalized=False) for token in control])
    return BytePairTokenizer(encoder, int(fields["tokenizer.ggml.eos_token_id"]))
