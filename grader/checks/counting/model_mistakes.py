"""Wrong counts of a model: a part missed or taken twice, and every wrong layer."""

from grader.checks.counting import layer_mistakes
from grader.checks.counting.layer_parts import ATTENTION, NET, layer
from grader.checks.counting.models import config_of
from grader.checks.engine.exercise import Mistake
from transformer_block.counting import count_parameters


def parts_of(model):
    """Return the parts of a model by the library's names."""
    return count_parameters(config_of(model))


def total(model):
    """Return the exact number of parameters."""
    return {"total": float(sum(parts_of(model).values()))}


def _instead(**formulas):
    """Count some parts, named with underscores, by other formulas and the rest rightly."""

    def outputs(model):
        wrong = {name.replace("_", " "): formula(model) for name, formula in formulas.items()}
        return {"total": sum((parts_of(model) | wrong).values())}

    return outputs


def _without(*names):
    return lambda model: {
        "total": sum(number for name, number in parts_of(model).items() if name not in names)
    }


def _in_every_layer(mistake):
    """Make the same mistake of one layer in all layers of a model."""

    def outputs(model):
        ((name, wrong),) = mistake.outputs(model).items()
        extra = model["n_layers"] * (wrong - layer(model)[name])
        return {"total": total(model)["total"] + extra}

    return Mistake(mistake.name, mistake.question, outputs)


def _one_layer(model):
    parts = parts_of(model)
    repeated = sum(parts[name] for name in (*ATTENTION, *NET, "norms", "norms of q and k"))
    return {"total": total(model)["total"] - repeated + repeated // model["n_layers"]}


def _norms_of(size):
    """Count the two kinds of norms with another number of parameters in each."""
    return _instead(norms=lambda m: m["n_layers"] * m["norms_per_layer"] * size(m), final_norm=size)


MISTAKES = (
    Mistake(
        "one_layer",
        "How often does the block stand in the model?",
        _one_layer,
    ),
    Mistake(
        "no_embedding",
        "Where does the vector of a token come from, before the first block?",
        _without("embedding"),
    ),
    Mistake(
        "no_head",
        "What turns the last vector into one number for each word? Is it a matrix of its own here?",
        _without("head"),
    ),
    Mistake(
        "tied_twice",
        "Which entry says whether the head is the embedding once more? How often is that stored?",
        _instead(head=lambda m: m["vocab_rows"] * m["d_model"]),
    ),
    Mistake(
        "neither_table",
        "Is there no V × d matrix at all in your count?",
        _without("embedding", "head"),
    ),
    Mistake(
        "vocabulary_without_width",
        "How many numbers does the embedding hold for each word?",
        _instead(
            embedding=lambda m: m["vocab_rows"],
            head=lambda m: 0 if m["tied_embeddings"] else m["vocab_rows"],
        ),
    ),
    Mistake(
        "no_positions",
        "How does this model know where a token stands? Does that need parameters?",
        _without("positions"),
    ),
    Mistake(
        "positions_without_width",
        "How many numbers does the table hold for each position?",
        _instead(positions=lambda m: m["learned_positions"]),
    ),
    Mistake(
        "positions_in_every_layer",
        "Is there one table of positions, or one in every layer?",
        _instead(positions=lambda m: m["n_layers"] * m["learned_positions"] * m["d_model"]),
    ),
    Mistake(
        "no_norms",
        "Have the norms of this model parameters? Which entry says how many?",
        _without("norms", "final norm"),
    ),
    Mistake(
        "no_final_norm",
        "What stands between the last block and the head?",
        _without("final norm"),
    ),
    Mistake(
        "only_the_final_norm",
        "Are there norms inside the blocks too?",
        _without("norms"),
    ),
    Mistake(
        "one_norm_in_a_layer",
        "How many norms has a block of this model?",
        _instead(norms=lambda m: m["n_layers"] * m["norm_params_per_norm"]),
    ),
    Mistake(
        "two_norms_in_every_layer",
        "Has a block of this model two norms? Which entry says it?",
        _instead(norms=lambda m: 2 * m["n_layers"] * m["norm_params_per_norm"]),
    ),
    Mistake(
        "gains_without_biases",
        "Is a gain all that a norm of this model learns? Which entry says how many numbers it has?",
        _norms_of(lambda m: min(m["norm_params_per_norm"], m["d_model"])),
    ),
    Mistake(
        "a_gain_in_every_norm",
        "Which entry says how many numbers one norm has? Is it always d?",
        _norms_of(lambda m: m["d_model"]),
    ),
    Mistake(
        "gain_and_bias_in_every_norm",
        "Has a norm of this model a bias beside its gain?",
        _norms_of(lambda m: 2 * m["d_model"]),
    ),
    Mistake(
        "no_norms_of_q_and_k",
        "Are there norms inside attention too? Which entry says so?",
        _without("norms of q and k"),
    ),
    Mistake(
        "norms_of_q_and_k_once",
        "The norms of q and k: are they in one layer or in all?",
        _instead(norms_of_q_and_k=lambda m: m["qk_norm_params_per_layer"]),
    ),
    Mistake(
        "no_head_bias",
        "Is something added to the logits of this model? Which entry says so?",
        _without("head bias"),
    ),
    Mistake(
        "head_bias_always",
        "Has the head of this model a bias?",
        _instead(head_bias=lambda m: m["vocab_rows"]),
    ),
    Mistake(
        "head_bias_of_width_d",
        "How long is a bias that is added to the logits?",
        _instead(head_bias=lambda m: m["lm_head_bias"] * m["d_model"]),
    ),
    Mistake(
        "no_bias_anywhere",
        "You count no bias at all. Which entries of this model speak of biases?",
        _without("attention biases", "net biases", "head bias"),
    ),
    Mistake(
        "biases_of_layers_forgotten",
        "The layers of this model have biases, in attention and in the net. Where do you add them?",
        _without("attention biases", "net biases"),
    ),
    Mistake(
        "blocks_alone",
        "You count the blocks. What stands before the first of them, and what after the last?",
        _without("embedding", "positions", "final norm", "head", "head bias"),
    ),
    *(_in_every_layer(mistake) for mistake in layer_mistakes.MISTAKES),
)
