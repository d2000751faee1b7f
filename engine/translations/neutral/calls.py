"""Names, ids and arguments of tool calls, as other vendors accept them (arguments are the JSON text
of an object), and the calls that the events of an answer are given without: that of the tool which
stands for the form of the answer, and those behind the only one that is wanted.

Some models enforce no schema of their answer, but one of a tool's arguments. The request declares
such a tool and requires its call; the arguments of the call become the text of the answer. Others
cannot be told to call one tool at a time. Without a function that may be called there is nothing to
hold back. Where the caller demands a call, the first one is what it wants. Only where the model
chooses freely is the wish a loss.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2s
from typing import TypeVar

import msgspec
from msgspec import Raw

from engine.translations.neutral.argument_schemas import arguments_schema
from engine.translations.neutral.content import Text, ToolCall
from engine.translations.neutral.events import BrokenAnswer, Close, Delta, End, Event, Finish, Open
from engine.translations.neutral.json_members import OBJECT, WrongType, value_of
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.parameters import LimitedWriter
from engine.translations.neutral.request import ChatRequest, Tool
from engine.values.trees import Json

_Model = TypeVar("_Model")

_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_LEGAL = re.compile(r"[a-zA-Z0-9_-]+")
_FIRST_LETTER = re.compile(r"[a-zA-Z_]")
_HASH = 8
_MAX_ANSWER_ID = 60
"""With it, the ids of items stay within the 64 characters that OpenAI takes in later requests."""


def call_id(text: str, longest: int = 64) -> str:
    """An id of a call that every vendor accepts: letters, digits, `_` and `-`. Deterministic, so
    that a call and its result keep the same id."""
    if text and len(text) <= longest and not _ILLEGAL.search(text):
        return text
    return f"call_{digest(text)}"


def name_of_answer(vendor_id: str | None, beginning: bytes) -> str:
    """A text that no other answer has: the vendor's id, or a hash of the JSON that it begins with,
    which has its time or its counts. Calls without ids need some that no other turn has."""
    return vendor_id or blake2s(beginning, digest_size=8).hexdigest()


def answer_id(prefix: str, text: str) -> str:
    """The id of an answer as a language writes it: with its prefix (`chatcmpl-`, `msg_`)."""
    own_id = text if text.startswith(prefix) else prefix + _ILLEGAL.sub("", text)
    return own_id if len(own_id) <= _MAX_ANSWER_ID else prefix + digest(text)


def digest(text: str) -> str:
    """A short text that stands for a long one."""
    return blake2s(text.encode(), digest_size=12).hexdigest()


class ToolNames:
    """The tool names of one request, converted for a vendor with a shorter limit.

    `originals` are the callers' names by the changed ones, to restore them in answers.
    `first_letter`: the vendor requires a letter or `_` at the beginning.
    """

    def __init__(self, longest: int = 64, *, first_letter: bool = False) -> None:
        self.originals: dict[str, str] = {}
        self._longest, self._first_letter = longest, first_letter

    def legal(self, name: str) -> str:
        """The name itself if the vendor accepts it, else its beginning and a hash of all of it."""
        is_begun = bool(_FIRST_LETTER.match(name) if self._first_letter else name)
        if is_begun and len(name) <= self._longest and _LEGAL.fullmatch(name):
            return name
        suffix = blake2s(name.encode(), digest_size=_HASH // 2).hexdigest()
        legal = _ILLEGAL.sub("_", name if is_begun else f"_{name}")
        short = f"{legal[: self._longest - _HASH - 1]}_{suffix}"
        self.originals[short] = name
        return short


_STRING = msgspec.json.Decoder(str)
_NOTHING = (b"", b"null", b"{}", b"[]")

MAX_ARGUMENTS = 4_000_000
"""The largest sum of characters of all arguments in an answer; they are buffered until each call is
complete."""


def check_buffer(size: int, holder: str = "answer has") -> None:
    """Raise BrokenAnswer for more characters than may wait to be written."""
    if size > MAX_ARGUMENTS:
        bound = f"over {MAX_ARGUMENTS} characters that must be buffered"
        raise BrokenAnswer(f"the upstream's {holder} {bound}")


def are_object(text: str) -> bool:
    """Whether a text can be the arguments of a call: a JSON object, or nothing."""
    try:
        OBJECT.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return not text.strip()
    return True


def unwrapped(arguments: str) -> str:
    """Arguments as the text of an object: some servers write that text as a string of JSON."""
    if arguments[:1] != '"':
        return arguments
    text = value_of(_STRING, arguments)
    return arguments if text is None or value_of(OBJECT, text) is None else text


WRAPPER = "multi_tool_use.parallel"
"""The name under which models of OpenAI's sometimes write several calls as one."""


class _WrappedCall(msgspec.Struct):
    recipient_name: str
    parameters: Raw = Raw()


class _WrappedCalls(msgspec.Struct):
    tool_uses: list[_WrappedCall]


_WRAPPED_CALLS = msgspec.json.Decoder(_WrappedCalls)


def wrapped_calls(call: ToolCall, text: str) -> Iterator[tuple[ToolCall, str]]:
    """A call and the text of its arguments; the calls in a wrapper, each with an id of its own."""
    wrapped = value_of(_WRAPPED_CALLS, text) if call.name == WRAPPER else None
    calls = wrapped.tool_uses if wrapped is not None else []
    if not calls:
        yield call, text
    for number, each in enumerate(calls):
        name = each.recipient_name.removeprefix("functions.")
        single = ToolCall(id=f"{call.id}_{number}" if number else call.id, name=name)
        arguments = bytes(each.parameters).decode()
        yield single, "{}" if arguments in ("", "null") else unwrapped(arguments)


def arguments_of(raw: Raw) -> str:
    """Some servers write the text of the object as a string. Empty for none."""
    text = bytes(raw)
    if text[:1] == b'"':
        return msgspec.json.decode(text, type=str)
    return "" if text in _NOTHING else text.decode()


def arguments_text(call: ToolCall) -> str:
    """The arguments as a text; `{}` for none: programs parse them, and SDKs do."""
    return call.arguments if call.arguments.strip() else "{}"


def arguments_object(call: ToolCall) -> Raw:
    """The arguments as an object, with their own key order and number text. Raises WrongType."""
    if not are_object(call.arguments):
        raise WrongType(call.place or f"the arguments of {call.name}", "a JSON object")
    return Raw(call.arguments.strip().encode() or b"{}")


def sent_arguments(call: ToolCall) -> Raw:
    """The same for a turn that is sent back. A text that is not an object, as models write it and
    agents answer with an error, becomes the member `arguments` of one."""
    if are_object(call.arguments):
        return arguments_object(call)
    return Raw(msgspec.json.encode({"arguments": call.arguments}))


class AnswerTool:
    """Turns the calls of the tool `name` in an answer's events into texts."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._answered: set[int] = set()
        self._called: set[int] = set()
        self._empty: set[int] = set()
        """Candidates with an open call of the tool, up to now without arguments."""

    def events(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, End):
                finishes = {at: self._finish(at, each) for at, each in event.finishes.items()}
                yield msgspec.structs.replace(event, finishes=finishes)
            elif isinstance(event, Open) and isinstance(event.block, ToolCall):
                yield self._open(event, event.block)
            else:
                if isinstance(event, Delta) and event.text:
                    self._empty.discard(event.candidate)
                elif isinstance(event, Close) and event.candidate in self._empty:
                    self._empty.discard(event.candidate)
                    yield Delta("{}", event.candidate)
                yield event

    def _open(self, event: Open, call: ToolCall) -> Open:
        candidate = event.candidate
        if call.name != self._name:
            self._called.add(candidate)
            return event
        self._answered.add(candidate)
        self._empty.add(candidate)
        return Open(Text(), candidate)

    def _finish(self, candidate: int, finish: Finish) -> Finish:
        """The finish of a candidate: `end` instead of `tool_calls` if it called only the tool."""
        answered = candidate in self._answered and candidate not in self._called
        if answered and finish.stop == "tool_calls":
            return msgspec.structs.replace(finish, stop="end", native="")
        return finish


class LimitedToolWriter(LimitedWriter[_Model]):
    """Writes the tools of one request within the limits of a model."""

    def __init__(
        self, request: ChatRequest, model: _Model, losses: Losses, names: ToolNames
    ) -> None:
        super().__init__(request, model, losses)
        self._names = names

    def _answer_tool(self, names: set[str]) -> tuple[Json, Raw | None]:
        """The name, which is none of `names`, and the description of the tool whose arguments are
        the answer, and their schema: None where the answer is a call that is demanded anyway."""
        choice, output = self._request.tool_choice, self._request.output
        if output is None or (choice is not None and choice.mode == "any"):
            return {}, None
        any_object = ", a JSON object with the members that were asked for"
        default = f"Gives the answer to the user{any_object if output.kind == 'json' else ''}."
        name = "json_tool_call"
        while name in names:
            name += "_"
        schema = arguments_schema(Tool(name=name, schema=output.schema))
        return {"name": name, "description": output.description or default}, schema


def lose_one_call(request: ChatRequest, losses: Losses) -> bool:
    """Returns whether the first of the calls of an answer is the wanted one."""
    if request.parallel_calls is not False:
        return False
    mode = "auto" if request.tool_choice is None else request.tool_choice.mode
    if mode == "none" or not any(isinstance(tool, Tool) for tool in request.tools):
        return False
    if mode == "any" or request.one_call:
        return True
    reason = "the upstream cannot be limited to one call at a time"
    losses.add(request.place_of("parallel_calls"), reason)
    return False


class FirstCall:
    """Leaves out the calls of each candidate behind its first one."""

    def __init__(self) -> None:
        self._called: set[int] = set()
        self._omitted: set[int] = set()

    def events(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, Open) and isinstance(event.block, ToolCall):
                if event.candidate in self._called:
                    self._omitted.add(event.candidate)
                    continue
                self._called.add(event.candidate)
            elif isinstance(event, Delta | Close) and event.candidate in self._omitted:
                if isinstance(event, Close):
                    self._omitted.remove(event.candidate)
                continue
            yield event
