"""Places kept from the parser's nodes: those of the nodes themselves, whatever the file is like."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from engine.source.nodes import compose
from engine.source.source_map import SourceMap
from tests.support.each import each

VALUES = st.recursive(
    st.integers() | st.sampled_from(["a", "b: c", "long words " * 9]),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from("abc"), below),
    max_leaves=15,
)


def marks(node: yaml.Node, path: tuple[str | int, ...] = (), name: Any = None) -> Any:
    """Every path with the places of its value and of its key."""
    position = (name or node).start_mark
    yield (
        path,
        (node.start_mark.line + 1, node.start_mark.column + 1),
        (position.line + 1, position.column + 1),
    )
    if isinstance(node, yaml.SequenceNode):
        for index, below in enumerate(node.value):
            yield from marks(below, (*path, index))
    elif isinstance(node, yaml.MappingNode):
        for key, below in node.value:
            yield from marks(below, (*path, key.value), key)


@given(value=VALUES, flow=st.booleans())
def test_every_place_is_that_of_its_node(value: Any, flow: bool) -> None:
    root = compose(yaml.dump(value, default_flow_style=flow))
    assert root is not None
    places = SourceMap(root)
    for path, at, key_at in marks(root):
        assert places.find(path, key=False) == at
        assert places.find(path, key=True) == key_at


@each(
    ("path", "place"),
    [
        (("b", "x"), (2, 5)),
        (("b", "y", 1), (3, 9)),
        (("c", 0, "x"), (2, 5)),
        (("d", "x"), (6, 16)),
        (("d", "y"), (3, 5)),
        (("e", "x"), (2, 5)),
        (("e", "z"), (8, 6)),
        (("b", "no", "x"), (1, 4)),
        (("no",), (1, 1)),
    ],
)
def test_aliases_and_merges_lead_to_their_anchors(path: Any, place: tuple[int, int]) -> None:
    text = "b: &b\n x: 1\n y: [1, 2]\nc:\n- *b\nd: {<<: *b, x: 2}\ne:\n  z: 1\n  <<: [*b, {q: 1}]\n"
    root = compose(text)
    assert root is not None
    assert SourceMap(root).find(path, key=False) == place


def test_aliases_of_aliases_cost_nothing() -> None:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    root = compose("\n".join(lines))
    assert root is not None
    assert SourceMap(root).find(("a59", *[0] * 60), key=False) == (1, 10)
