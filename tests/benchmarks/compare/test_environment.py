"""Packages of other systems, kept in the user's cache folder."""

from __future__ import annotations

import pytest

from benchmarks.compare.environment import installed, installed_from_npm
from benchmarks.compare.system import LeftOut


def test_a_system_from_npm_is_left_out_where_there_is_no_npm(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LeftOut, match="node and npm not installed"):
        installed_from_npm("x", {"x": "1"}, {})


def test_an_interpreter_that_is_not_there_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(LeftOut, match="no interpreter"):
        installed("x", python=str(tmp_path / "python"))
