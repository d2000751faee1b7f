"""How an API speaks: its errors, stream events, usage, model list, chat formats.

ONE FILE OR FOLDER HERE = ONE DIALECT: a module that defines `DIALECT`, which no other module names.
`interface/` is not a dialect: it holds the types of one; read its `dialect.py` first.
"""

from __future__ import annotations

from functools import cache

from engine.dialects.interface.dialect import Dialect, Document
from engine.dialects.interface.model_list import ModelCard, ModelList
from engine.dialects.interface.streams import StreamError
from engine.values.discovery import Plugins
from engine.values.installed_plugins import DIALECTS

__all__ = [
    "DEFAULT",
    "KINDS",
    "PLAIN",
    "Dialect",
    "Document",
    "ModelCard",
    "ModelList",
    "StreamError",
    "by_request",
    "default",
    "event_status",
    "get",
    "names",
]

DEFAULT = "openai"
"""The dialect of a request that no route or header assigns to another."""

PLAIN = "plain"
"""The dialect of an OpenAPI document that names none."""


def _other_name(name: str, dialect: Dialect) -> str:
    return "" if dialect.name == name else f"its own name is '{dialect.name}'; write name='{name}'"


KINDS: Plugins[Dialect] = Plugins(__name__, "DIALECT", Dialect, group=DIALECTS, mistake=_other_name)


@cache
def names() -> list[str]:
    """The names of all dialects, sorted."""
    return KINDS.names()


@cache
def get(name: str) -> Dialect:
    """The dialect of that name, one of `names()`."""
    return KINDS.get(name)


def default() -> Dialect:
    """The dialect called DEFAULT."""
    return get(DEFAULT)


def event_status(name: str, document: object) -> int:
    """The HTTP status of an error event, or error answer, of that dialect; 502 without one."""
    error = get(name).stream_error(document)
    return 502 if error is None else error.status


def by_request() -> list[Dialect]:
    """All dialects in the order in which they may claim a request. The last one is the default, for
    requests that no dialect claims."""
    return [get(name) for name in names() if name != DEFAULT] + [default()]
