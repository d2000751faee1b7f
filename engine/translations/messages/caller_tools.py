"""Tools of the vendor's that the caller runs (`bash`, the text editor, the memory): the vendor has
trained its models on them and knows their arguments. A model of another vendor gets functions.

Sources: platform.claude.com/docs, "Bash tool", "Text editor tool" and "Memory tool", 2026-11.
"""

from __future__ import annotations

from msgspec import Raw

from engine.translations.neutral.content import read_cache_mark
from engine.translations.neutral.json_members import Members, encode
from engine.translations.neutral.request import Tool
from engine.values.trees import Json

_TEXT: Json = {"type": "string"}
_LINE: Json = {"type": "integer"}
_RANGE: Json = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}


def _schema(required: list[str], properties: Json) -> Raw:
    return Raw(encode({"type": "object", "properties": properties, "required": required}))


def _commands(names: str, place: str, properties: Json) -> Raw:
    command = {"type": "string", "enum": names.split()}
    return _schema(["command", place], {"command": command, place: _TEXT, **properties})


_EDITS: Json = {
    "file_text": {**_TEXT, "description": "create: the content of the file"},
    "old_str": {**_TEXT, "description": "str_replace: the text to replace, which occurs once"},
    "new_str": {**_TEXT, "description": "str_replace: the new text"},
    "insert_line": {**_LINE, "description": "insert: the line after which it is inserted, or 0"},
    "insert_text": {**_TEXT, "description": "insert: the text"},
    "view_range": {**_RANGE, "description": "view: the first and the last line, -1 for the end"},
}
_EDITOR = "Views and edits text files. Paths are absolute; a folder can be viewed."
_TOOLS: dict[str, tuple[str, str, Raw]] = {
    "bash_": (
        "bash",
        "Runs a command in a bash session that lasts, or restarts the session.",
        _schema([], {"command": _TEXT, "restart": {"type": "boolean"}}),
    ),
    "text_editor_20250124": (
        "str_replace_editor",
        _EDITOR,
        _commands("view create str_replace insert undo_edit", "path", _EDITS),
    ),
    "text_editor_": (
        "str_replace_based_edit_tool",
        _EDITOR,
        _commands("view create str_replace insert", "path", _EDITS),
    ),
    "memory_": (
        "memory",
        "Views and edits the files below /memories, which last from one conversation to another. "
        "View the folder before anything else. `rename` takes old_path and new_path.",
        _schema(
            ["command"],
            {
                "command": {
                    "type": "string",
                    "enum": ["view", "create", "str_replace", "insert", "delete", "rename"],
                },
                **dict.fromkeys(("path", "old_path", "new_path"), _TEXT),
                **_EDITS,
            },
        ),
    ),
}
"""The name of each tool, what it does and its arguments, by the beginning of its kind."""


def stands_for(kind: str, raw: Raw, place: str, unread: list[str]) -> list[Tool]:
    """The function for a tool of this kind at `place`, none for one that the vendor runs."""
    facts = next((_TOOLS[begin] for begin in _TOOLS if kind.startswith(begin)), None)
    if facts is None:
        return []
    name, description, schema = facts
    members = Members(raw, place, unread)
    members.text("type")
    name = members.text("name") or name
    strict = members.boolean("strict")
    function = Tool(name=name, description=description, schema=schema, strict=strict, place=place)
    function.cache = read_cache_mark(members.rest())
    return [function]
