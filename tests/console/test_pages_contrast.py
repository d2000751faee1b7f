"""WCAG 2.2, 1.4.3 and 1.4.11: the contrast of every pair of adjacent colours, in both themes."""

import re

import pytest

from engine.console.pages import FILES
from tests.support.each import each

COLOURS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", (FILES / "style.css").read_text("utf-8")
    )
}
COLOURS["on-fill"] = ("#ffffff", "#ffffff")
GROUNDS = ("page", "panel", "sunken")
TEXT = [
    *(
        (front, ground)
        for front in ("text", "muted", "accent", "bad", "good")
        for ground in GROUNDS
    ),
    *((front, "soft") for front in ("text", "accent")),
    ("number", "sunken"),
    *((front, "bad-soft") for front in ("text", "bad", "muted")),
    *(("on-fill", ground) for ground in ("fill", "fill-hover")),
]
EDGES = [("edge", ground) for ground in GROUNDS]


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(first, second):
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_is_twenty_one():
    assert ratio("#000000", "#ffffff") == pytest.approx(21)


@each("theme", [0, 1], ids=["light", "dark"])
@each(("front", "ground"), TEXT)
def test_text_has_enough_contrast(front, ground, theme):
    assert ratio(COLOURS[front][theme], COLOURS[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("front", "ground"), EDGES)
def test_edges_of_controls_have_enough_contrast(front, ground, theme):
    assert ratio(COLOURS[front][theme], COLOURS[ground][theme]) >= 3
