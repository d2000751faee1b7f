"""What references name: JSON Pointers with escapes, and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.spec.document.reference_target import UNUSABLE_NAME, target_of
from tests.support.each import each
from tests.support.libraries import at, read


@each(
    ("key", "pointer"),
    [
        ("a/b", "#/t/a~1b"),
        ("a~b", "#/t/a~0b"),
        ("a~1b", "#/t/a~01b"),
        ("a b", "#/t/a%20b"),
        ("{id}", "#/t/{id}"),
        ("{id}", "#/t/%7Bid%7D"),
        ("é", "#/t/é"),
        ("é", "#/t/%C3%A9"),
        ("a%b", "#/t/a%25b"),
        ("200", "#/t/200"),
    ],
)
def test_a_pointer_may_be_escaped(tmp_path: Path, key: str, pointer: str) -> None:
    document = {"openapi": "3.1.0", "t": {key: {"x": 1}}, "a": {"$ref": pointer}}
    library, problems = read(tmp_path, api=json.dumps(document))
    assert problems == []
    assert at(library, "a", "x").value == 1


@each(
    ("ref", "file", "pointer"),
    [
        ("#/a", "/d/api.yaml", "/a"),
        ("", "/d/api.yaml", ""),
        ("b.yaml", "/d/b.yaml", ""),
        ("../b%20c.yaml#/a/0", "/b c.yaml", "/a/0"),
        ("file:///e/b%20c.yaml#/a", "/e/b c.yaml", "/a"),
    ],
)
def test_a_reference_names_a_file_and_a_pointer(ref: str, file: str, pointer: str) -> None:
    assert target_of(ref, Path("/d/api.yaml")) == (Path(file), pointer)


def test_a_file_is_resolved_once(tmp_path: Path) -> None:
    resolved: dict[tuple[Path, str], Path] = {}
    file, _ = target_of("b.yaml#/a", tmp_path / "api.yaml", resolved)
    assert resolved == {(tmp_path, "b.yaml"): file}
    resolved[tmp_path, "b.yaml"] = tmp_path / "c.yaml"
    assert target_of("b.yaml", tmp_path / "api.yaml", resolved) == (tmp_path / "c.yaml", "")


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(UNUSABLE_NAME):
        target_of("a\0.yaml", Path("/d/api.yaml"))
