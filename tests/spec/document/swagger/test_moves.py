"""Parts that a conversion moves: references and places follow them."""

from __future__ import annotations

from engine.spec.document.swagger.moves import Moves
from tests.support.documents import HERE, library


def test_the_longest_moved_part_of_a_path_decides() -> None:
    files = library({"new": {"x": 1, "y": {"z": 1}}, "r": {"$ref": "#/old/in/z"}})
    files.unresolved = [(HERE, ("old", "a")), (HERE, ("other",))]
    moves = Moves(files)
    moves.move(HERE, ("old",), ("new",))
    moves.move(HERE, ("old", "in"), ("new", "y"))
    moves.apply()
    assert files.document.value["r"] == {"$ref": "#/new/y/z"}
    assert files.unresolved == [(HERE, ("new", "a")), (HERE, ("other",))]


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
