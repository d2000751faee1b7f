"""A gateway in front of a mock that takes its time between two pieces, for live sessions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.running import Platform, gateway, mock, patient, pointed_at, replaced, shipped

DELAY = 0.05
"""Seconds between two pieces of a reply."""

_UPSTREAMS = """
  wrong:
    url: "${MOCK}/v1"
    credential: {bearer: not-the-one}
    proxy: ""
  nowhere:
    url: "http://127.0.0.1:9"
    proxy: ""
  impatient:
    url: "${MOCK}/v1"
    credential: {bearer: "${OPENAI_API_KEY}"}
    timeouts: {first_byte: 300ms}
    proxy: ""
"""
_MODELS = """
  "fault-*": {to: [{upstream: openai}]}
  renamed: {to: [{upstream: openai, model: the-real-name}]}
  wrong: {to: [{upstream: wrong}]}
  nowhere: {to: [{upstream: nowhere}]}
  slow: {to: [{upstream: impatient, model: fault-slow-9}]}
"""


@contextmanager
def live(folder: Path) -> Iterator[Platform]:
    """The shipped gateway in front of a mock with a DELAY."""
    config = shipped(folder / "project")
    config = replaced(config, r"\nmodels:.*\n", f"{_UPSTREAMS}\nmodels:\n")
    config = replaced(config, r"\nroutes:\n", f"{_MODELS}\nroutes:\n")
    with (
        mock(folder, "--delay", str(DELAY)) as upstream,
        gateway(folder / "project", patient(config), pointed_at(upstream.url)) as front,
    ):
        yield Platform(front, upstream, folder / "project")
