"""Whether standard output is a terminal, and one with colour."""

import io

from engine.cli.terminal import has_colour, is_terminal


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_file_is_no_terminal_and_has_no_colour():
    assert not is_terminal(None)
    assert not has_colour(io.StringIO())


def test_a_terminal_has_colour_unless_it_is_switched_off(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert has_colour(Terminal())
    monkeypatch.setenv("TERM", "dumb")
    assert not has_colour(Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not has_colour(Terminal())
