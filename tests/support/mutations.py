"""A config that uses every key, and random mutations of its types, values and keys.

A mutation is a text, so that it goes through the YAML reader as a file does.
"""

from __future__ import annotations

import copy
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from engine.offline.rehearsal.boot import boot
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import PlanResult
from engine.source.reader import read
from tests.support import paths
from tests.support.peer import Authority

FULL_PROJECT = paths.CASES / "whole"
ENVIRON = {"KEY": "sk-mutation-1", "EMPTY": "", "NUMBER": "7", "BYTES": "\udcff"}

RAW = [
    *("null", "~", "true", "false", "yes", "on", "0", "1", "-1", "2", "1.0", "1.5", "1e3", "1e308"),
    *(
        "-0.0",
        ".inf",
        "-.inf",
        ".nan",
        "0x10",
        "0o17",
        "9" * 20,
        "-" + "9" * 20,
        "9" * 500,
        "1_000",
    ),
    *("2024-01-01", "2024-01-01T00:00:00Z", "12:30:45", "=", "<<", "!!binary aGk=", "!x y"),
    *('""', '" "', "x", '"*"', '"?"', '"\\n"', '"3s\\n"', '"\\0"', '"\\x7f"', '"\\u2028"', "é"),
    *('"\\U0001F600"', '"\u0663s"', '"\uff11\uff12s"', '"e\u0301"', '"\\uFEFFx"', '"\u202e"'),
    *('"${KEY}"', '"${NUMBER}"', '"${NOPE}"', '"${EMPTY}"', '"${BYTES}"', '"${KEY:-}"', '"${"'),
    *('"$${x}"', '"${file:shop.yaml}"', '"${file:/nowhere}"', '"${file:.}"', '"a${KEY}b"'),
    *("0s", "0ms", "1ms", "999999999d", "999999999999d", "0.000000001ms", "-5s", "1e3s", "5", "5x"),
    *("0B", "1B", "999999999999GiB", "0.1B", "1 MB", "25mb", "60/1m", "0/1m", "1/0s", "1/1ms"),
    *("999999999999999/999999999d", "1 EUR/1d", "0 EUR/1d", "1 XXX/1d", "9999999999 EUR/1d"),
    *('"9999-12-31"', '"0001-01-01"', '"0001-01-01T00:00:00+23:59"', '"9999-12-31T23:59:59-23:59"'),
    *('"2024-02-30"', '"2024-01-01T99:99:99"', '"2024-01-01 1:1"', "10.0.0.0/8", "10.0.0.1/8"),
    *('"::1"', '"fe80::1%eth0"', "0.0.0.0/0", "256.1.1.1", "127.0.0.1:0", '"[::]:1"', '"[::1:80"'),
    *(
        '"x:65536"',
        '":80"',
        '"a b:80"',
        '"\u00e9:80"',
        "unix:/",
        "unix:x.sock",
        "unix:../../x",
        "unix:",
    ),
    *(
        "http://",
        "http://h",
        "http://h:99999/",
        '"http://[::1"',
        "http://u:p@h/",
        "http://h/?q",
        "ftp://h",
    ),
    *("http+unix://", "http+unix://%00", "https://\u00fc.example/", "http://" + "a" * 64 + ".b"),
    *("https://h/%zz", "http://h/a b", "http://h:0", "https://localhost:1/", "HTTP://H"),
    *("sqlite:///", "sqlite:///x/y.db", "sqlite://", "sqlite:///x?a=b", "mysql://h/d", "memory"),
    *(
        "postgresql+psycopg://127.0.0.1:1/d",
        "postgresql+psycopg://h:bad/d",
        "postgresql+psycopg://",
    ),
    *(
        "postgresql+psycopg://127.0.0.1:99999/d",
        "redis://",
        "redis://h:bad",
        "redis://127.0.0.1:1/x",
    ),
    *(
        "redis://127.0.0.1:99999/0",
        "redis://127.0.0.1:1?nonsense=1",
        "unix://",
        "rediss://127.0.0.1:1",
    ),
    *(
        "/",
        ".",
        "..",
        "../x",
        "shop.yaml",
        "other.yaml",
        "gateway.yaml",
        "body.json",
        "nowhere/x",
        "ca.pem",
    ),
    *("a" * 300, "x" * 100_000, "[]", "[null]", "[[]]", "[1, a]", "[{}]", "[a, a]", "{}", "{a: 1}"),
    *(
        '{"": ""}',
        "{a: {b: {c: d}}}",
        "{1: 2}",
        "{[a]: b}",
        "{? }",
        "[" * 150 + "]" * 150,
        "[" * 5000,
    ),
    *("$request.body#/model", "$request.body#/", "$request.path.x", "$request.header.x y"),
    *("$request.query.", "$request.body#/a/*/b", "shop.*", "shop.nothing", "*.*", ".", "shop."),
    *("openai", "plain", "strict", "report", "off", '"off"', "none", "models", "small", '"any-*"'),
]
"""Values in YAML's flow style."""

_MARK = "\u25c6"


class Mutation(NamedTuple):
    """The text of a changed config, and a description of the changes."""

    text: str
    words: str


def prepare(folder: Path) -> None:
    """Write the config with every key, and the files that it names, into a folder."""
    shutil.copytree(FULL_PROJECT, folder, dirs_exist_ok=True)
    Authority(folder).issue("localhost")


def full_config() -> Any:
    """The config with every key, as a value."""
    return read((FULL_PROJECT / "gateway.yaml").read_text("utf-8"), "gateway.yaml").value


def mutations(seed: int) -> Iterator[Mutation]:
    """Endless mutations, the same for the same seed."""
    dice, config = random.Random(seed), full_config()
    everywhere = list(_paths(config))
    while True:
        changed, marks, words = copy.deepcopy(config), {}, []
        for _ in range(dice.choice((1, 1, 1, 1, 2, 3))):
            at = dice.choice(everywhere)
            words.append(_mutate(changed, at, config, everywhere, dice, marks))
        text = json.dumps(changed, indent=1, ensure_ascii=False)
        for mark, raw in marks.items():
            text = text.replace(f'"{mark}"', raw)
        yield Mutation(text, "; ".join(words))


def judge(mutation: Mutation) -> PlanResult:
    """Plan a mutation in the working directory, and boot the plan if there is one.

    AssertionError if an error has no place; any other exception is a bug of the engine.
    """
    planned = make_plan(Path("gateway.yaml"), ENVIRON, mutation.text)
    assert (planned.plan is None) == bool(planned.findings.errors), mutation.words
    for problem in planned.findings.errors:
        assert problem.message, mutation.words
        assert problem.line >= 1, f"{problem} has no place: {mutation.words}"
        assert problem.column >= 1, f"{problem} has no place: {mutation.words}"
        assert ENVIRON["KEY"] not in f"{problem} {problem.hint}", mutation.words
    if planned.plan is not None:
        with TemporaryDirectory() as aside:
            boot(planned.plan, Path(aside))
    return planned


def _mutate(
    changed: Any,
    at: tuple[Any, ...],
    config: Any,
    everywhere: list[tuple[Any, ...]],
    dice: random.Random,
    marks: dict[str, str],
) -> str:
    """Change the value at a place, if it is still there; the description of the change."""
    holder = _value(changed, at[:-1])
    keys = range(len(holder)) if isinstance(holder, list) else holder
    if not isinstance(holder, list | dict) or at[-1] not in keys:
        return "nothing"
    where, mark = ".".join(map(str, at)), f"{_MARK}{len(marks)}"
    kind = dice.choice((*["raw"] * 4, *["near"] * 4, "swap", "wrap", "delete", "repeat", "rename"))
    if kind == "raw":
        marks[mark] = dice.choice(RAW)
        holder[at[-1]] = mark
        return f"{where} = {marks[mark][:60]}"
    if kind == "near":
        holder[at[-1]] = _near(holder[at[-1]], dice)
        return f"{where} = {holder[at[-1]]!r:.60}"
    if kind == "swap":
        source = dice.choice(everywhere)
        holder[at[-1]] = copy.deepcopy(_value(config, source))
        return f"{where} = {'.'.join(map(str, source))}"
    if kind == "wrap":
        holder[at[-1]] = [holder[at[-1]]] if dice.random() < 0.5 else {"x": holder[at[-1]]}
        return f"{where} wrapped"
    if kind == "delete":
        del holder[at[-1]]
        return f"{where} deleted"
    if kind == "repeat" and isinstance(holder, dict):
        marks[mark] = json.dumps(at[-1])
        holder[mark] = copy.deepcopy(holder[at[-1]])
    elif kind == "repeat":
        holder.append(copy.deepcopy(holder[at[-1]]))
    elif isinstance(holder, dict):
        marks[mark] = dice.choice(
            ("1", "null", "true", '""', "x", '"a b"', '"\\0"', '"${KEY}"', "<<")
        )
        holder[mark] = holder.pop(at[-1])
    return f"{where}: {kind} {marks.get(mark, '')}"


def _near(value: Any, dice: random.Random) -> Any:
    """A similar value of the same type, which may be valid."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return dice.choice(
            (value + 1, value - 1, value * 10, value / 3, 0, 1, -value, float(value))
        )
    if isinstance(value, list):
        entries = [entry for entry in value if dice.random() < 0.5]
        return dice.choice((entries, value[::-1], value * 2, []))
    if isinstance(value, dict):
        return {key: below for key, below in value.items() if dice.random() < 0.7}
    if value is None:
        return dice.choice(("null", 0))
    digits = "".join(dice.choice("0123456789") if c.isdigit() else c for c in value)
    return dice.choice((digits, digits, value + "x", value[:-1], value.upper(), f" {value}"))


def _paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if not isinstance(value, dict | list):
        return
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*at, key)
        yield from _paths(inner, (*at, key))


def _value(value: Any, at: tuple[Any, ...]) -> Any:
    for step in at:
        keys = range(len(value)) if isinstance(value, list) else value
        if not isinstance(value, list | dict) or step not in keys:
            return None
        value = value[step]
    return value
