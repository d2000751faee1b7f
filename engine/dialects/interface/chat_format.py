"""Chat formats: what the home page and the playground need to offer a chat operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from engine.values.trees import Json


class Program(Struct, frozen=True):
    """The parts of a program that uses an SDK: `start` creates the client, `call` and `stream`
    (where it is another function) send a request, `on_event` handles one event of a stream and
    `on_answer` a complete answer.

    `@BASE@` and `@VERSION@` in `start` are replaced by string literals.
    """

    start: str
    call: str
    on_event: str
    on_answer: str
    stream: str = ""


class ChatFormat(Struct, frozen=True, kw_only=True):
    """One chat operation of a dialect, recognised by the end of its path.

    `path_suffix` ends the path, `stream_suffix` that of its streams where they have another path,
    `stream_query` is added to it. `sdk_suffix` is the part of the path that an SDK adds to its base
    address. `module` is the JavaScript module in `console/page/playground/` that writes and reads
    the format. `curl_headers` are the arguments of curl that carry the variable TOKEN.
    `arguments` returns the first call's arguments for a model, `body` its JSON body where that
    differs. `programs` are the SDKs by language, `python` and `javascript`.
    """

    name: str
    title: str
    path_suffix: str
    sdk_suffix: str
    module: str
    curl_headers: str
    arguments: Callable[[str], Json]
    programs: Mapping[str, Program]
    body: Callable[[str], Json] | None = None
    stream_suffix: str = ""
    stream_query: str = ""
