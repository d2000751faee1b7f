"""The chats that are sent."""

from __future__ import annotations

import orjson

from benchmarks.compare import chats


def test_chats_are_of_the_size_that_the_page_names(tmp_path):
    bodies = {name: path.read_bytes() for name, path in chats.write(tmp_path).items()}
    assert {name: "tools" in orjson.loads(body) for name, body in bodies.items()} == {
        "plain": False,
        "tools": True,
    }
    assert all(850 <= len(body) <= 950 for body in bodies.values())
    assert 10_000_000 <= len(chats.large()) < 10_001_000


def test_the_load_generator_can_vary_the_length_of_each(tmp_path):
    for path in chats.write(tmp_path).values():
        assert path.read_bytes().count(b"in verse.") == 1
        assert path.read_bytes().count(b'"gpt-4o"') == 1
