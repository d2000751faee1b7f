"""The common fields of requests in OpenAI's two languages: functions, tool choice, web search and
sampling. Chat completions have some members inside another one (`nested`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from itertools import compress
from mmap import mmap
from operator import attrgetter
from typing import Literal

from msgspec import Raw, Struct
from msgspec.json import Decoder

from engine.translations.neutral.calls import digest
from engine.translations.neutral.content import Extra, read_cache_mark
from engine.translations.neutral.json_members import NULL, Members, WrongType, encode, value_of
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.parameters import NO_REASONING, is_wide, number, read_web_search
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Tool, ToolChoice
from engine.translations.neutral.request_json import JsonObject, present
from engine.translations.vendors.openai_models import reasoning_effort, samples, takes_verbosity
from engine.translations.vendors.openai_schemas import write_parameters, write_strict
from engine.values.trees import Json
from engine.values.wildcard import Patterns

SHARED_MEMBERS = (
    *("metadata", "service_tier", "safety_identifier"),
    *("prompt_cache_key", "prompt_cache_retention", "prompt_cache_options"),
)
_SHARED, _SHARED_NAMES = Patterns(SHARED_MEMBERS), frozenset(SHARED_MEMBERS)

_MODES: dict[str, Literal["auto", "none", "any"]] = {
    "none": "none",
    "auto": "auto",
    "required": "any",
}
_READ = _MODES | {"validated": "auto", "any": "any"}
"""`validated` is Gemini's mode, which Copilot CLI sends its models in chat completions; `any` is
Mistral's word."""

_WORDS = {mode: word for word, mode in _MODES.items()}

_MAX_USER = 64


def _inside(name: str, members: Json, *, nested: bool) -> Json:
    return {name: members} if nested else members


class FunctionObject(JsonObject):
    """The declaration of a function."""

    name: str | None = None
    description: str | None = None
    parameters: Raw = Raw()
    strict: bool | None = None


def with_text_arguments(members: dict[str, Raw]) -> dict[str, Raw]:
    """The members of a call, with arguments that are an object as their text."""
    text = bytes(members.get("arguments", b""))
    is_object = text.startswith(b"{")
    return {**members, "arguments": Raw(encode(text.decode()))} if is_object else members


def read_function(function: FunctionObject, place: str, schema_member: str = "parameters") -> Tool:
    """The tool that a function is, whose schema is in this member of the tool's."""
    if not function.name:
        name = schema_member.replace("parameters", "name")
        raise WrongType(f"{place}.{name}", "the name of a function")
    return Tool(
        name=function.name,
        description=function.description or "",
        schema=present(function.parameters),
        strict=function.strict,
        place=place,
        schema_member=schema_member,
        cache=read_cache_mark(function.extra),
    )


def read_tool_choice(
    raw: Raw, request: ChatRequest, *, nested: bool = False, place: str = "tool_choice"
) -> None:
    """Read a choice, which may be absent. No other vendor supports the choice of a tool that is no
    function."""
    if present(raw) is None:
        return
    if bytes(raw)[:1] == b'"':
        mode = _READ.get(Members({place: raw}).text(place) or "")
        if mode is None:
            raise WrongType(place, "none, auto, required or an object")
        request.tool_choice = ToolChoice(mode)
        return
    request.tool_choice = _read_choice(Members(raw, place, request.unread), nested=nested)
    if request.tool_choice is None:
        request.unread.append(place)


def _read_choice(choice: Members, *, nested: bool) -> ToolChoice | None:
    """The choice of one tool, or among some; None if one of them is no function."""
    kind = choice.peek("type").decode().strip('"')
    if kind in _READ:  # as Anthropic's callers say it
        choice.raw("type")
        choice.rest()
        return ToolChoice(_READ[kind])
    if kind != "allowed_tools":
        name = _name_of(choice, nested=nested)
        return None if name is None else ToolChoice("any", (name,))
    members = choice.members("allowed_tools") if nested else choice
    if members is None:
        raise choice.wrong("allowed_tools", "an object")
    names = [_name_of(tool, nested=nested) for tool in members.objects("tools")]
    if None in names:
        return None
    mode = members.text("mode")
    if mode not in ("auto", "required"):
        raise members.wrong("mode", "auto or required")
    return ToolChoice(_MODES[mode], tuple(name for name in names if name is not None))


def _name_of(tool: Members, *, nested: bool) -> str | None:
    """The name of a function, or of a tool that one stands for; None for another tool."""
    if (tool.text("type") or "function") not in ("function", "tool" if nested else "custom"):
        return None
    function = tool.members("function") if "name" not in tool and "function" in tool else tool
    name = None if function is None else function.text("name")
    if not name:
        raise tool.wrong("function.name" if nested else "name", "the name of a function")
    return name


def write_tool_choice(
    choice: ToolChoice, legal: Callable[[str], str], *, nested: bool = False
) -> object:
    """`legal` is the name that the vendor accepts for a function."""
    if not choice.names or choice.mode == "none":
        return _WORDS[choice.mode]
    functions = [
        {"type": "function", **_inside("function", {"name": legal(name)}, nested=nested)}
        for name in choice.names
    ]
    if choice.mode == "any" and len(functions) == 1:
        return functions[0]
    members = {"mode": _WORDS[choice.mode], "tools": functions}
    return {"type": "allowed_tools", **_inside("allowed_tools", members, nested=nested)}


def write_web_search(tool: BuiltInTool, losses: Losses, *, nested: bool = False) -> Json:
    """The options of a search; only responses take domains."""
    names = ("location", "context_size", *(() if nested else ("allowed_domains",)))
    options = read_web_search(tool).carry(losses, *names)
    members: Json = {}
    if "allowed_domains" in options:
        members["filters"] = {"allowed_domains": options["allowed_domains"]}
    if "location" in options:
        place = _inside("approximate", options["location"], nested=nested)
        members["user_location"] = {"type": "approximate", **place}
    if "context_size" in options:
        members["search_context_size"] = options["context_size"]
    return members


def other_members(harmless: Mapping[str, Container[bytes]]) -> Callable[[JsonObject], Extra]:
    """A function that gives the members of a request that only its own language knows, unless of
    `harmless` and so valued."""
    values_of = attrgetter(*harmless)

    def read(request: JsonObject) -> Extra:
        values = values_of(request)
        if not any(values):  # nearly always
            return request.extra
        others = {
            name: raw
            for name, raw in compress(zip(harmless, values, strict=True), values)
            if raw != NULL and bytes(raw).replace(b" ", b"") not in harmless[name]
        }
        return others | request.extra if others else request.extra

    return read


def write_function(tool: Tool, legal: Callable[[str], str], losses: Losses) -> Json:
    """The members of a function; `legal` is the name that the vendor accepts for one."""
    function: Json = {"name": legal(tool.name)}
    if tool.description:
        function["description"] = tool.description
    if tool.schema is not None:
        function["parameters"] = write_parameters(tool)
    strict = tool.strict and write_strict(tool.strict, tool.schema, tool.strict_place, losses)
    return function if strict is None else {**function, "strict": strict}


def write_sampling(
    request: ChatRequest, model: str, effort: str | None, losses: Losses
) -> dict[str, Raw]:
    """For a model that accepts none, a temperature or top_p of 1 is no loss."""
    members: dict[str, Raw] = {}
    for name in ("temperature", "top_p"):
        value = getattr(request, name)
        if value is None:
            continue
        if samples(model, effort):
            members[name] = value
        elif number(value) != 1:
            wide = name == "top_p" and is_wide(name, value)
            losses.add(request.place_of(name), "a model that reasons takes none", hint=wide)
    if request.top_k is not None:
        losses.add(request.place_of("top_k"), hint=is_wide("top_k", request.top_k))
    return members


def write_user(user: str) -> str | None:
    """The caller's user, None for none; a hash of a name that is longer than the vendor takes."""
    return (user if len(user) <= _MAX_USER else f"user_{digest(user)}") or None


def write_shared(request: ChatRequest, other_language: str, losses: Losses) -> Json:
    """The members that both of OpenAI's languages have, of a caller of the other one."""
    if request.language != other_language or _SHARED_NAMES.isdisjoint(request.extra):
        return {}
    losses.withdraw(_SHARED)
    return {name: request.extra[name] for name in SHARED_MEMBERS if name in request.extra}


def write_effort(request: ChatRequest, model: str, losses: Losses) -> tuple[str | None, bool]:
    """The effort of reasoning, None for the model's own; and whether the request is fulfilled."""
    if request.thinking is None:
        return None, True
    effort, reason = reasoning_effort(request.thinking, model)
    if reason:
        losses.add(request.place_of("thinking"), reason, hint=reason == NO_REASONING)
    return effort, not reason


def lose_logprobs(request: ChatRequest, losses: Losses) -> None:
    losses.add(request.place_of("logprobs"), "a model that reasons gives none")


def write_verbosity(request: ChatRequest, model: str, losses: Losses) -> str | None:
    if not request.verbosity:
        return None
    if takes_verbosity(model):
        return request.verbosity
    if request.verbosity != "medium":
        losses.add(request.place_of("verbosity"), "the model has only one verbosity", hint=True)
    return None


class _Turns(Struct):
    messages: Raw = Raw()
    input: Raw = Raw()


_TURNS = Decoder(_Turns)
_CHAT = re.compile(rb'\s*\{[^{]*?"messages"\s*:\s*\[\s*[^\]\s]')


def is_responses_request(body: bytes | mmap) -> bool:
    """Whether a request has an `input` in place of `messages`: Cursor sends them to chats."""
    if body.find(b'"input"') < 0 or _CHAT.match(body, 0, 2_000):  # nearly always
        return False
    turns = value_of(_TURNS, body)
    if turns is None or not turns.input:
        return False
    return bytes(turns.messages).translate(None, b" \t\r\n") in (b"", b"null", b"[]")
