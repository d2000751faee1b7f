"""Random mutations of the files in `tests/cases/translations/`: requests, answers and streams of a
hostile caller or upstream."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from tests.support.translations import CASES, event_data

_MARK = "\u0001mark"

VALUES = [
    *(b"null", b"true", b"false", b"0", b"-1", b"1", b"1.5", b"-0.0", b"1e308", b"1e400"),
    *(b"9" * 19, b"-" + b"9" * 19, b"9" * 400, b"9" * 5_000, b"9" * 400 + b".0", b"1e99999"),
    *(b'""', b'" "', b'"x"', b'"\\u0000\\r\\n"', b'"\\ud800"', b'"\\ud83d\\ude00"', b'"\xff"'),
    *(b'"\xed\xa0\x80"', b'"' + b"x" * 70_000 + b'"', '"\u00b2"'.encode(), '"\u0663s"'.encode()),
    *(b'"data:,x"', b'"data:image/png;base64,!"', b'"1e999s"', b'"12.5.1s"', b'"999"', b'"{"'),
    *(b'"{}"', b'"[1]"', b'"error"', b'"tool_use"', b'"text"', b'"stop"', b'"user"', b'"auto"'),
    *(b"[]", b"[null]", b"[[]]", b"[{}]", b"[0]", b'[""]', b"[" * 400 + b"]" * 400),
    *(b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 5_000 + b"1" + b"}" * 5_000, b"{", b"]", b""),
    *(b"{}", b'{"":0}', b'{"type":null}', b'{"type":"x","type":7}', b'{"error":null}', b'{"a" 1}'),
    *(b'{"error":"x"}', b'{"error":{"message":5,"code":"1e9","details":7}}', b'{"index":-1}'),
]
"""JSON texts, some of them broken, that take the place of any value."""


def files(language: str, *kinds: str) -> list[bytes]:
    """The files of a language in some folders of its cases."""
    folders = [CASES / language / kind for kind in kinds]
    return [
        file.read_bytes()
        for folder in folders
        for file in sorted(folder.iterdir())
        if file.suffix in (".json", ".sse")
    ]


def documents(language: str, *kinds: str) -> list[bytes]:
    """The files that are JSON."""
    return [text for text in files(language, *kinds) if text.lstrip()[:1] in (b"{", b"[")]


def streams(language: str) -> list[list[bytes]]:
    """The data of the events of each stream."""
    texts = files(language, "streams", "upstream")
    return [event_data(text) for text in texts if text.lstrip()[:1] not in (b"{", b"[")]


def changed(text: bytes, dice: random.Random) -> bytes:
    """A JSON text with one to three changes of its values, or of its bytes."""
    if dice.random() < 0.1:
        return _changed_bytes(text, dice)
    marks: list[bytes] = []
    try:
        value = json.loads(text)
        for _ in range(dice.choice((1, 1, 1, 2, 3))):
            value = _change(value, dice, marks)
        result = json.dumps(value).encode()
    except (ValueError, RecursionError):
        return text  # `[DONE]`, or changed before
    for number, raw in enumerate(marks):
        result = result.replace(json.dumps(f"{_MARK}{number}.").encode(), raw)
    return result


def changed_stream(
    events: list[bytes], strangers: list[bytes], dice: random.Random
) -> Iterator[bytes]:
    """A stream with changed, missing, repeated, moved or foreign events, perhaps cut."""
    events = list(events)
    for _ in range(dice.choice((1, 1, 2, 3))):
        at, to = dice.randrange(len(events)), dice.randrange(len(events))
        what = dice.choice(
            ("change", "change", "change", "drop", "repeat", "swap", "foreign", "cut")
        )
        if what == "change":
            events[at] = changed(events[at], dice)
        elif what == "drop" and len(events) > 1:
            del events[at]
        elif what == "repeat":
            events.insert(to, events[at])
        elif what == "swap":
            events[at], events[to] = events[to], events[at]
        elif what == "foreign":
            events.insert(at, dice.choice((*strangers, *VALUES)))
        else:
            events = events[: at + 1]
            events[at] = events[at][: dice.randrange(len(events[at]) + 1)]
    yield from events


def _change(value: Any, dice: random.Random, marks: list[bytes]) -> Any:
    places = list(_places(value))
    if not places:
        return value
    value = copy.deepcopy(value)
    *above, last = dice.choice(places)
    holder = value
    for step in above:
        holder = holder[step]
    what = dice.choice(("raw",) * 6 + ("other",) * 3 + ("wrap", "delete", "repeat", "rename"))
    if what == "raw":
        holder[last] = _marked(dice.choice(VALUES), marks)
    elif what == "other":
        other = value
        for step in dice.choice(places):
            other = other[step]
        holder[last] = copy.deepcopy(other)
    elif what == "wrap":
        holder[last] = [holder[last]] if dice.random() < 0.5 else {"x": holder[last]}
    elif what == "delete":
        del holder[last]
    elif what == "repeat" and isinstance(holder, dict):
        holder[_marked(json.dumps(last).encode(), marks)] = dice.choice((None, 1, "x", [], {}))
    elif what == "repeat":
        holder.insert(0, copy.deepcopy(holder[last]))
    elif isinstance(holder, dict):
        holder[dice.choice(("", "x\r\ny: z", "type", "\u00e9" * 300))] = holder.pop(last)
    return value


def _marked(raw: bytes, marks: list[bytes]) -> str:
    marks.append(raw)
    return f"{_MARK}{len(marks) - 1}."


def _changed_bytes(text: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(text) + 1)
    what = dice.choice(("cut", "byte", "insert", "repeat"))
    if what == "cut":
        return text[:at]
    if what == "repeat":
        return text + text[at:]
    end = at + 1 if what == "byte" else at
    return text[:at] + bytes([dice.randrange(256)]) + text[end:]


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*at, key)
            yield from _places(inner, (*at, key))
