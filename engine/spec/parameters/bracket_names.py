"""Field names with brackets: `a[]`, `a[0]`, `a[b][c]`, `a[][b]`.

No standard defines them. Query parameters, urlencoded and multipart bodies share this reader, which
follows the parsers of PHP, Rack and `qs`: SDKs write such names for these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from engine.process.loop_turn import paced
from engine.values.errors import Malformed

Tree = list[Any] | dict[str, "Tree"]
"""A list of the leaves with the same name, or subtrees by key. The key `""` holds the items that
`[]` appended, in order: leaves, and a dict for an item that is an object."""

MAX_DEPTH: Final = 16
_BRACKETS = re.compile(r"(?:\[[^\[\]]*\])+")
# Names that change every object in a JavaScript upstream; no API has a field of that name.
_PROTOTYPES = frozenset({"__proto__", "constructor", "prototype"})


def split_name(name: str) -> tuple[str, str]:
    """`a[b][]` as its root and its brackets: `("a", "[b][]")`; `("a", "")` for a plain name."""
    root, bracket, brackets = name.partition("[")
    return root, bracket + brackets


def tree_of(fields: Iterable[tuple[str, object]], where: str) -> dict[str, Tree]:
    """The tree of the fields of one root, given as `("[a][b]", leaf)` in their order.

    Repeated names keep all their leaves; the event loop has turns between thousands of names.
    Raises Malformed; its message begins with `where`.
    """
    tree: dict[str, Tree] = {}
    for brackets, leaf in paced(fields):
        _add(tree, _keys(brackets, where), leaf, where)
    return tree


def _keys(brackets: str, where: str) -> list[str]:
    if not _BRACKETS.fullmatch(brackets):
        raise Malformed(f"{where}: unbalanced brackets: {brackets[:80]}")
    keys = brackets[1:-1].split("][")
    if len(keys) > MAX_DEPTH:
        raise Malformed(f"{where}: nested more than {MAX_DEPTH} deep")
    if forbidden := _PROTOTYPES.intersection(keys):
        raise Malformed(f"{where}: the name {min(forbidden)!r} is not allowed")
    return keys


def _add(tree: dict[str, Tree], keys: list[str], leaf: object, where: str) -> None:
    for depth, key in enumerate(keys[:-1]):
        if key:
            branch = tree.setdefault(key, {})
        else:
            branch = _item(tree.setdefault(key, []), keys[depth + 1 :])
        if isinstance(branch, list):
            raise _conflict(key, where)
        tree = branch
    leaves = tree.setdefault(keys[-1], [])
    if isinstance(leaves, dict):
        raise _conflict(keys[-1], where)
    leaves.append(leaf)


def _item(items: Tree, keys: list[str]) -> Tree:
    """The appended object to which `keys` belong: a new one if the last one already has them."""
    assert isinstance(items, list)
    if not items or not isinstance(items[-1], dict) or _has(items[-1], keys):
        items.append({})
    last: dict[str, Tree] = items[-1]
    return last


def _has(tree: Tree, keys: list[str]) -> bool:
    """Whether there is a leaf at `keys`. Keys with `[]` append, so they are always new."""
    if "" in keys:
        return False
    for key in keys:
        if not isinstance(tree, dict) or key not in tree:
            return False
        tree = tree[key]
    return True


def _conflict(key: str, where: str) -> Malformed:
    return Malformed(f"{where}: [{key}] is given both as a value and with brackets")
