"""Names of students and files, which strangers choose: what can be kept, and what may be shown."""

import re

# What no eye sees and a terminal obeys, what turns the text behind it around, and half characters.
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
LONGEST = 128  # characters: the gradebook of nbgrader keeps no longer one
MOST_BYTES = 240  # of a file's name, with room for an ending


def why_no_student(name):
    """Say why a name can be no student's; nothing if it can.

    Parameters
    ----------
    name : str
        Of a folder.

    Returns
    -------
    reason : str
        In words.
    """
    if UNSEEN.search(name):
        return "its name has a character that cannot be seen or is in no encoding of today"
    if len(name) > LONGEST or len(name.encode()) > MOST_BYTES:
        return f"its name is too long: {LONGEST} characters are the most"
    return ""


def shown(text):
    """Return a text with escapes, as Python writes them, in place of what a terminal obeys."""
    return UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)
