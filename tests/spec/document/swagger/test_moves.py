"""Parts that a conversion moves: references and places follow them."""

from __future__ import annotations

from dataclasses import replace

from engine.source.problem import Level, Problem
from engine.spec.document.node import Breach
from engine.spec.document.swagger.moves import Moves
from tests.support.documents import HERE, library

PROBLEM = Problem("document.json", 1, 1, Level.WARNING, "MW204", "broken")


def test_the_longest_moved_part_of_a_path_decides() -> None:
    files = library({"new": {"x": 1, "y": {"z": 1}}, "r": {"$ref": "#/old/in/z"}})
    files.breaches = [Breach(HERE, ("old", "a"), PROBLEM), Breach(HERE, ("other",), PROBLEM)]
    moves = Moves(files)
    moves.move(HERE, ("old",), ("new",))
    moves.move(HERE, ("old", "in"), ("new", "y"))
    moves.apply()
    assert files.document.value["r"] == {"$ref": "#/new/y/z"}
    moved = replace(files.breaches[0], path=("new", "a"))
    assert files.breaches == [moved, Breach(HERE, ("other",), PROBLEM)]


def test_a_value_has_the_place_of_its_origin_also_in_an_overlay() -> None:
    files = library({"new": {"a": 1, "b": 2}})
    overlay = library({"fix": 3}).files[HERE]
    files.grafts = {HERE: {("old", "b"): (overlay, ("fix",))}}
    moves = Moves(files)
    moves.move(HERE, ("old",), ("new",))
    moves.origin(HERE, ("new",), ("old",))
    moves.apply()
    assert files.origin(HERE, ("new", "a")) == (files.files[HERE], ("old", "a"))
    assert files.origin(HERE, ("new", "b")) == (overlay, ("fix",))
