"""Hypothesis strategies for neutral requests by the features of languages, and their meaning."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Any

from hypothesis import strategies as st
from msgspec import Raw

from engine.translations.neutral.content import (
    Block,
    Inline,
    Link,
    Media,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from engine.translations.neutral.language import Language, RequestLine, TargetRequest
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import (
    ChatRequest,
    Message,
    OutputFormat,
    Thinking,
    Tool,
    ToolChoice,
    merged,
)
from engine.values.wildcard import Patterns

_EVERYWHERE = frozenset(
    (
        *("system", "image", "calls", "tools", "tool_choice", "allowed_tools", "temperature"),
        *("top_p", "json_schema", "effort", "stream", "no_calls"),
    )
)
FEATURES: dict[str, frozenset[str]] = {
    "chat_completions": _EVERYWHERE
    | {"image_link", "document", "parallel_calls", "stop", "seed", "penalties", "candidates"}
    | {"logprobs", "json", "user"},
    "responses": _EVERYWHERE
    | {"image_link", "document", "parallel_calls", "logprobs", "json"}
    | {"user"},
    "messages": _EVERYWHERE | {"image_link", "document", "parallel_calls", "stop", "top_k", "user"},
    "generate_content": _EVERYWHERE | {"stop", "seed", "candidates", "logprobs", "json", "top_k"},
    # After a tool call, calls cannot be forbidden there.
    "converse": _EVERYWHERE - {"no_calls"} | {"document", "parallel_calls", "stop", "top_k"},
}
"""The features that requests of each language have."""

MODELS = {
    "chat_completions": "some-model",
    "responses": "some-model",
    "messages": "claude-opus-4-6",
    "generate_content": "gemini-3-flash",
    "converse": "us.anthropic.claude-opus-4-6-v1",
}
"""A model of each language that takes all of it."""

_CHARACTERS = st.characters(codec="utf-8", categories=["L", "N", "P", "S"])
WORDS = st.text(_CHARACTERS, min_size=1, max_size=8)
NUMBERS = st.sampled_from(["0.70", "0.1", "1E-1", "0.25"]).map(lambda text: Raw(text.encode()))
_VALUES = st.recursive(
    st.integers() | WORDS | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
_OBJECTS = st.dictionaries(WORDS, _VALUES, max_size=3).map(json.dumps)
_SCHEMAS = st.dictionaries(WORDS, st.just({"type": "string"}), max_size=3).map(
    lambda properties: Raw(json.dumps({"type": "object", "properties": properties}).encode())
)
_ANSWERS = st.dictionaries(WORDS, st.just({"type": "string"}), max_size=3).map(
    lambda properties: Raw(
        json.dumps(
            {"type": "object", "properties": properties, "additionalProperties": False}
        ).encode()
    )
)
"""Schemas that all vendors take for an answer."""

_NAMES = st.sampled_from(["f", "get_weather", "search-web", "x" * 64])
_PNG = Inline("image/png", "iVBORw0KGgo=")
_PDF = Inline("application/pdf", "JVBERi0=")


@st.composite
def requests(draw: st.DrawFn, features: frozenset[str]) -> ChatRequest:
    """A request of some of these features."""

    def has(feature: str) -> bool:
        return feature in features and draw(st.booleans())

    request = ChatRequest(language="", model="m", messages=[])
    if has("system"):
        request.system = [Text(text=text) for text in draw(st.lists(WORDS, min_size=1, max_size=2))]
    if has("tools"):
        names = draw(st.lists(_NAMES, min_size=1, max_size=3, unique=True))
        request.tools = [
            Tool(name=name, description=draw(WORDS), schema=draw(_SCHEMAS)) for name in names
        ]
    request.messages = draw(_conversations(features, request))
    _draw_parameters(draw, features, request)
    return request


@st.composite
def _conversations(
    draw: st.DrawFn, features: frozenset[str], request: ChatRequest
) -> list[Message]:
    messages = [Message(role="user", blocks=draw(_contents(features)))]
    for _ in range(draw(st.integers(0, 2))):
        blocks: list[Block] = [Text(text=draw(WORDS))]
        results: list[Block] = []
        if request.tools and "calls" in features:
            for _ in range(draw(st.integers(0, 2))):
                name = draw(st.sampled_from(request.tools)).name
                identity = f"call_{sum(map(len, (m.blocks for m in messages)))}_{len(results)}"
                blocks.append(ToolCall(id=identity, name=name, arguments=draw(_OBJECTS)))
                content: list[Block] = [Text(text=draw(WORDS))]
                results.append(ToolResult(id=identity, content=content))
        messages.append(Message(role="assistant", blocks=blocks))
        messages.append(Message(role="user", blocks=[*results, *draw(_contents(features))]))
    return messages


@st.composite
def _contents(draw: st.DrawFn, features: frozenset[str]) -> list[Block]:
    kinds = [kind for kind in ("image", "image_link", "document") if kind in features]
    more = draw(st.lists(st.sampled_from(["text", *kinds]), max_size=2))
    return [Text(text=draw(WORDS)), *(_block(kind) for kind in more)]


def _block(kind: str) -> Block:
    match kind:
        case "image":
            return Media(kind="image", source=_PNG)
        case "image_link":
            return Media(kind="image", source=Link("https://a.example/b.png"))
        case "document":
            return Media(kind="document", source=_PDF, name="a.pdf")
    return Text(text="more")


def _draw_parameters(draw: st.DrawFn, features: frozenset[str], request: ChatRequest) -> None:
    def has(feature: str) -> bool:
        return feature in features and draw(st.booleans())

    request.stream = has("stream")
    request.max_tokens = draw(st.integers(16, 4000))
    request.stop = draw(st.lists(WORDS, min_size=1, max_size=2)) if has("stop") else []
    request.seed = Raw(b"7") if has("seed") else None
    request.top_k = Raw(b"40") if has("top_k") else None
    request.candidates = 2 if has("candidates") else None
    request.user = "user_1" if has("user") else ""
    if has("penalties"):
        request.presence_penalty, request.frequency_penalty = Raw(b"0.50"), Raw(b"1.0")
    if has("logprobs"):
        request.logprobs, request.top_logprobs = True, 3
    match draw(st.sampled_from(["", "temperature", "top_p", "effort"])):
        case "temperature":
            request.temperature = draw(NUMBERS)
        case "top_p":
            request.top_p = draw(NUMBERS)
        case "effort" if request.top_k is None:
            request.thinking = Thinking(effort=draw(st.sampled_from(["low", "medium", "high"])))
    if has("json_schema"):
        request.output = OutputFormat(kind="json_schema", schema=draw(_ANSWERS), name="n")
    elif has("json"):
        request.output = OutputFormat(kind="json")
    if request.tools:
        request.tool_choice = draw(_choices(request, "no_calls" in features))
        if request.tool_choice is None or request.tool_choice.mode != "none":
            request.parallel_calls = False if has("parallel_calls") else None


@st.composite
def _choices(draw: st.DrawFn, request: ChatRequest, forbids: bool) -> ToolChoice | None:
    names = tuple(tool.name for tool in request.tools)
    choices = [None, ToolChoice("auto"), *([ToolChoice("none")] if forbids else [])]
    if request.thinking is None:
        choices += [ToolChoice("any"), ToolChoice("any", names[:1])]
    return draw(st.sampled_from(choices))


def written_in(language: Language, request: ChatRequest) -> TargetRequest:
    """A request in a language."""
    request = copy.deepcopy(request)
    request.language = language.name
    return language.write_request(request, MODELS[language.name], Losses(Patterns(())))


def line_of(target_request: TargetRequest) -> RequestLine:
    """The request line of a request, from its URL."""
    return RequestLine(
        model="m",
        stream=":stream" in target_request.path,
        query=target_request.query,
        id="r",
        time=1,
    )


def meaning_of(request: ChatRequest) -> dict[str, Any]:
    """The content of a request, for comparison."""
    system = [Message(role="system", blocks=list(request.system))] if request.system else []
    turns = merged([*system, *request.messages])
    output, thinking, choice = request.output, request.thinking, request.tool_choice
    return {
        "messages": [(turn.role, _joined(map(_meaning, _contents_of(turn)))) for turn in turns],
        "tools": [
            (tool.name, tool.description, _text(tool.schema))
            for tool in request.tools
            if isinstance(tool, Tool)
        ],
        "tool_choice": ("auto", ()) if choice is None else (choice.mode, choice.names),
        "output": None if output is None else (output.kind, _text(output.schema)),
        "effort": None if thinking is None else thinking.effort,
        "parallel_calls": request.parallel_calls,
        "stream": request.stream,
        "max_tokens": request.max_tokens,
        "stop": request.stop,
        "candidates": request.candidates,
        "logprobs": (request.logprobs or bool(request.top_logprobs), request.top_logprobs),
        "user": request.user,
        **{
            name: _text(getattr(request, name))
            for name in (
                *("temperature", "top_p", "top_k", "seed"),
                *("presence_penalty", "frequency_penalty"),
            )
        },
    }


def _contents_of(turn: Message) -> list[Block]:
    """The blocks of a turn without the signature that Gemini needs for another vendor's call."""
    return [each for each in turn.blocks if not isinstance(each, Reasoning) or each.text]


def _meaning(block: Block) -> tuple[Any, ...]:
    if isinstance(block, Text):
        return "text", block.text
    if isinstance(block, Media):
        return block.kind, block.source, block.name
    if isinstance(block, ToolCall):
        return "call", block.id, block.name, block.arguments
    if isinstance(block, ToolResult):
        return "result", block.id, [_meaning(each) for each in block.content]
    return type(block).__name__, repr(block)


def _text(raw: Raw | None) -> str | None:
    return None if raw is None else bytes(raw).decode()


def _joined(meanings: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """What blocks mean, those of texts side by side as one: a language may join them."""
    result: list[tuple[Any, ...]] = []
    for kind, group in groupby(meanings, itemgetter(0)):
        same = list(group)
        result += [("text", "\n\n".join(each[1] for each in same))] if kind == "text" else same
    return result
