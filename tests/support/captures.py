"""Recorded requests of the official SDKs: `reference/captures` in the folder MODELWAY_SHARED, by
default `shared` beside the checkout."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.paths import ROOT

SHARED = Path(os.environ.get("MODELWAY_SHARED") or ROOT.parent / "shared")


class Recording(NamedTuple):
    """A request of a recording: `>>> name`, its head, an empty line, its body."""

    name: str
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


def _read_recordings() -> Iterator[Recording]:
    for file in sorted((SHARED / "reference/captures").glob("*.requests.txt")):
        for block in re.split(r"^>>> ", file.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            name, _, request = block.partition("\n")
            head, _, body = request.partition("\n\n")
            first, *lines = head.split("\n")
            headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines)}
            data = body.encode("latin-1")  # the recordings show bytes as latin-1
            if headers.get("content-type", "").startswith("multipart/"):
                data = data.replace(b"\n", b"\r\n")
            size = int(headers.get("content-length", "0"))
            method, target, _ = first.split(" ")
            assert len(data) >= size, name
            yield Recording(name, method, target, headers, data[:size])


RECORDINGS = list(_read_recordings())
needs_recordings = pytest.mark.skipif(not RECORDINGS, reason="no recordings beside it")
