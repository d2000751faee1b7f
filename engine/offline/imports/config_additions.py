"""Entries added to the text of a gateway.yaml: the rest is unchanged, with its comments and
order."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from engine.source.yaml_text import flow, string


def with_entries(text: str, entries: Mapping[str, tuple[str, object]]) -> str:
    """The text with an entry in each section: its name and its value; the name is "" in a list.

    Raises ValueError for a section into which no entry can be written.
    """
    for section, (name, value) in entries.items():
        entry = f"{string(name)}: {flow(value)}" if name else flow(value)
        text = _with_entry(text, section, entry, is_list=not name)
    return text


def names_in(text: str, section: str) -> list[str]:
    """The names of the entries of a section. Raises ValueError as `with_entries`."""
    node = _section(text, section)
    return [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []


def _with_entry(text: str, section: str, entry: str, *, is_list: bool) -> str:
    node = _section(text, section)
    mark = "- " if is_list else ""
    if node is None:
        gap = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{gap}\n{section}:\n  {mark}{entry}\n"
    is_empty = isinstance(node, yaml.ScalarNode) and node.value in ("", "~", "null")
    if is_empty:
        return _after_line(text, node, f"  {mark}{entry}")
    node_type = yaml.SequenceNode if is_list else yaml.MappingNode
    if not isinstance(node, node_type):
        raise ValueError(
            f"'{section}' is not a plain {'list' if is_list else 'mapping'} in this file"
        )
    if node.flow_style:
        end = node.end_mark.index - 1
        comma = ", " if node.value else ""
        return f"{text[:end].rstrip(' ')}{comma}{entry}{text[end:]}"
    indent = " " * node.start_mark.column
    return _after_line(text, _last(node), f"{indent}{mark}{entry}")


def _section(text: str, section: str) -> yaml.Node | None:
    """The value of a section. Raises ValueError for a text that is not a mapping."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise ValueError("the config is not a block mapping of sections")
    return next((value for key, value in root.value if key.value == section), None)


def _last(node: yaml.Node) -> yaml.Node:
    """The last node in the text of a block."""
    while isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
        entry = node.value[-1]
        node = entry[1] if isinstance(entry, tuple) else entry
    return node


def _after_line(text: str, node: yaml.Node, line: str) -> str:
    """The text with a line behind the one in which a node ends."""
    end = node.end_mark.index
    if node.end_mark.column == 0 and end > 0:  # a block of text, which ends where the next begins
        end -= 1
    end = text.find("\n", end)
    if end < 0:
        return f"{text}\n{line}\n"
    return f"{text[: end + 1]}{line}\n{text[end + 1 :]}"
