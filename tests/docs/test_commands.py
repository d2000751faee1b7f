"""Every command of modelway that a page shows exists, with its options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from engine import cli
from tests.support.each import each
from tests.support.paths import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = {"commands.md"}
_BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"^--?[A-Za-z]")


def commands_on_pages() -> Iterator[tuple[str, str]]:
    """The page and the command, for each in a block of a shell or in a code span."""
    for page in PAGES:
        if page.name in GENERATED:
            continue
        text = page.read_text("utf-8")
        lines = [
            line.removeprefix("$ ")
            for block in _BLOCK.findall(text)
            for line in block.replace("\\\n", " ").splitlines()
            if "```" not in line
        ]
        spans = re.findall(r"(?<!`)`(modelway [^`]+)`(?!`)", text)
        for line in [*lines, *(" ".join(span.split()) for span in spans)]:
            for command in commands_of(line):
                yield str(page.relative_to(ROOT)), command


def commands_of(line: str) -> Iterator[str]:
    """The commands of modelway in a line of a shell."""
    for part in re.split(r"&&|\|\||[|;>]| # |\s#\s", line.partition("  #")[0]):
        if match := re.match(r"\s*(?:\w+=\S+\s+)*(modelway\s.+)", part):
            yield match[1].strip().rstrip("&)").strip()


def wrong(command: str) -> str:
    """What is wrong with a command, or ""."""
    words = shlex.split(command)[1:]
    current: click.Command = cli.main
    context = click.Context(current, info_name="modelway")
    options = {"--help", "-h", "--version"}
    while words and isinstance(current, click.Group):
        if words[0].startswith("-"):
            break
        child = current.get_command(context, words[0])
        if child is None:
            return "" if re.fullmatch(r"[A-Z.]+", words[0]) else f"there is no {words[0]}"
        current, words = child, words[1:]
    for parameter in current.params:
        options |= {*parameter.opts, *parameter.secondary_opts}
    names = [word.partition("=")[0] for word in words if _WORD.match(word)]
    return ", ".join(f"no option {name}" for name in names if name not in options)


@each("page, command", sorted(set(commands_on_pages())))
def test_a_command_and_its_options_exist(page, command):
    assert wrong(command) == ""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("modelway check -q && modelway serve   # both", ["modelway check -q", "modelway serve"]),
        ("A=b modelway serve > log &", ["modelway serve"]),
        ("git show | modelway diff - new", ["modelway diff - new"]),
        ("podman run modelway check", []),
    ],
)
def test_commands_of_a_line(line, expected):
    assert list(commands_of(line)) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("modelway check -c g.yaml --strict", ""),
        ("modelway token create --name a", ""),
        ("modelway chek", "there is no chek"),
        ("modelway check --strickt", "no option --strickt"),
    ],
)
def test_a_wrong_command_is_found(command, expected):
    assert wrong(command) == expected
