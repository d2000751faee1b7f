"""Tables: complete lines for programs, words that are not broken for people."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import termios

import pytest

from engine.cli.text_table import Table, print_table
from tests.support.commands import DOCUMENT, GOOD, modelway
from tests.support.each import each
from tests.support.paths import ROOT

TABLE = Table(
    ("NAME", "TEXT", "COUNT"),
    [("a", "some words of a text that is long", "1"), ("long-name-that-stays", "", "1,000")],
    frozenset({"COUNT"}),
)


def test_without_a_width_every_row_is_a_line():
    assert list(TABLE.lines(None)) == [
        "NAME                  TEXT                               COUNT",
        "a                     some words of a text that is long      1",
        "long-name-that-stays                                     1,000",
    ]


def test_the_widest_column_is_wrapped_between_words():
    assert list(TABLE.lines(46)) == [
        "NAME                  TEXT               COUNT",
        "a                     some words of a        1",
        "                      text that is long",
        "long-name-that-stays                     1,000",
    ]


def test_a_name_does_not_control_the_terminal(capsys):
    print_table(Table(("NAME",), [("\x1b]0;title\x07\u202e",)]))
    assert capsys.readouterr().out == "NAME\n␛]0;title␇\N{REPLACEMENT CHARACTER}\n"


@each("width", [1, 10, 20, 33, 34, 40])
def test_a_narrow_terminal_breaks_no_word(width):
    words = " ".join(TABLE.lines(width)).split()
    assert sorted(words) == sorted(" ".join(TABLE.lines(None)).split())


def test_columns_are_aligned_by_terminal_cells():
    lines = list(Table(("A", "B"), [("日本", "x"), ("ab", "y")]).lines(None))
    assert lines == ["A     B", "日本  x", "ab    y"]


def test_a_table_without_rows_has_its_headings():
    assert list(Table(("A", "B"), []).lines(1)) == ["A  B"]


LONG = "aVeryLongNameOfAnOperationThatNoTerminalHasRoomFor" * 4


@pytest.fixture
def project(folder):
    """A config whose operations, targets and policies have long names."""
    (folder / "shop.yaml").write_text(DOCUMENT.replace("operationId: list", f"operationId: {LONG}"))
    names = [f"upstream-with-a-long-name-{number}" for number in range(30)]
    entries = ", ".join(f'{name}: {{url: "http://127.0.0.1:9"}}' for name in names)
    targets = ", ".join(f"{{upstream: {name}}}" for name in names)
    text = GOOD.replace('main: {url: "http://127.0.0.1:9"}', entries)
    (folder / "gateway.yaml").write_text(text.replace("{upstream: main}", targets))
    return names


def test_routes_is_a_line_for_each_route_where_standard_output_is_no_terminal(project):
    output = modelway("routes", env={"COLUMNS": "40", "FORCE_COLOR": "1"}).stdout
    (line,) = [line for line in output.splitlines() if f"shop.{LONG}" in line]
    assert all(name in line for name in project)
    assert "token, validated" in line
    assert "\x1b" not in output


def test_providers_is_a_line_for_each_provider_where_standard_output_is_no_terminal():
    lines = modelway("providers", env={"COLUMNS": "40"}).stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("azure-claude ")]
    assert '{header: x-api-key, value: "${AZURE_COGNITIVE_SERVICES_API_KEY}"}' in line
    assert lines == [line.rstrip() for line in lines]


def on_terminal(*words: str, columns: int, **variables: str) -> str:
    """What a command prints on a terminal of this width."""
    controller, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (40, columns))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "modelway.py"), *words],
        stdin=terminal,
        stdout=terminal,
        env=environment | {"TERM": "xterm", **variables},
    )
    os.close(terminal)
    output = b""
    try:
        while data := os.read(controller, 65536):
            output += data
    except OSError:  # the command has ended
        pass
    os.close(controller)
    assert process.wait() == 0
    return output.decode().replace("\r\n", "\n")


def test_a_terminal_gets_lines_of_its_width_with_unbroken_words():
    text = on_terminal("providers", columns=110)
    plain = re.sub("\x1b\\[[0-9;]*m", "", text)
    assert text != plain
    assert max(map(len, plain.splitlines())) <= 110
    assert '"${AZURE_COGNITIVE_SERVICES_API_KEY}"}' in plain


def test_no_color_is_respected_on_a_terminal():
    assert "\x1b" not in on_terminal("providers", columns=110, NO_COLOR="1")
