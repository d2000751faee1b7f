"""The folders of a user that the environment names."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.cli.connect.folders import folder_of


@pytest.mark.parametrize(
    ("environ", "folder"),
    [({}, "/h/d"), ({"F": ""}, "/h/d"), ({"F": "d"}, "/h/d"), ({"F": "/x"}, "/x")],
)
def test_a_relative_folder_is_none(environ: dict[str, str], folder: str) -> None:
    assert folder_of(environ, "F", Path("/h/d")) == Path(folder)
