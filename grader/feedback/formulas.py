"""Formulas as MathML, which browsers show by themselves: no script, no fonts, no other site."""

import html
import re
from functools import lru_cache
from xml.etree import ElementTree

LONGEST = 4000  # characters of TeX; what is longer is shown as it was written
TAG = re.compile(r"\\tag\{([^{}]*)\}")
ELEMENTS = frozenset(
    "math menclose mfrac mi mn mo mover mpadded mphantom mroot mrow ms mspace msqrt mstyle msub"
    " msubsup msup mtable mtd mtext mtr munder munderover".split()
)
ATTRIBUTES = frozenset(
    "accent accentunder columnalign columnspacing display displaystyle fence form linebreak"
    " linethickness lspace mathvariant maxsize minsize notation rowspacing rspace scriptlevel"
    " separator stretchy".split()
)


@lru_cache(maxsize=4096)
def formula(tex, display):
    """Write a formula as MathML.

    Parameters
    ----------
    tex : str
        The formula in TeX, from anybody.
    display : bool
        Whether it stands on a line of its own.

    Returns
    -------
    markup : str
        MathML of elements and attributes that only show something; where the TeX is not
        understood, the TeX itself.
    """
    tags = TAG.findall(tex)
    try:
        if len(tex) > LONGEST:
            raise ValueError("too long")
        markup = _as_mathml(TAG.sub("", tex), "block" if display else "inline")
    except Exception:  # the converter raises many kinds on what is no TeX
        return f"<code>{html.escape(tex.strip())}</code>"
    number = "".join(f'<span class="tag">({html.escape(tag)})</span>' for tag in tags)
    return f'<div class="formula">{markup}{number}</div>' if display else markup


def _as_mathml(tex, display):
    from latex2mathml.converter import convert_to_element

    root = convert_to_element(tex, display=display)
    for element in root.iter():
        if element.tag not in ELEMENTS:
            raise ValueError(f"an element {element.tag}")
        element.text = html.unescape(element.text or "")
        if element.text == "&" or element.text.startswith("\\"):
            raise ValueError("something that was not understood")
        for name in set(element.attrib) - ATTRIBUTES - {"xmlns"}:
            del element.attrib[name]
    return ElementTree.tostring(root, encoding="unicode")
