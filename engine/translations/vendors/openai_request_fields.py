"""The common fields of requests in OpenAI's two languages: tool choice, the form of the answer,
sampling, sources of content, and the reason why a block is not supported."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Literal

from msgspec import Raw

from engine.translations.neutral.content import Extra
from engine.translations.neutral.json_members import NULL, Members, WrongType
from engine.translations.neutral.limits import Losses
from engine.translations.neutral.parameters import NO_REASONING, is_wide, number
from engine.translations.neutral.request import ChatRequest, OutputFormat, ToolChoice
from engine.translations.neutral.request_json import JsonObject, present
from engine.translations.vendors.openai_models import reasoning_effort, samples, takes_verbosity
from engine.translations.vendors.openai_schemas import is_strict
from engine.values.trees import Json
from engine.values.wildcard import Patterns

SHARED_MEMBERS = (
    *("metadata", "service_tier", "safety_identifier"),
    *("prompt_cache_key", "prompt_cache_retention", "prompt_cache_options"),
)
_SHARED, _SHARED_NAMES = Patterns(SHARED_MEMBERS), frozenset(SHARED_MEMBERS)

PENALTIES = ("presence_penalty", "frequency_penalty")
_ZEROS = (b"0", b"0.0")
_MODES: dict[str, Literal["auto", "none", "any"]] = {
    "none": "none",
    "auto": "auto",
    "required": "any",
}
_READ = _MODES | {"validated": "auto", "any": "any"}
"""`validated` is Gemini's mode, which Copilot CLI sends its models in chat completions; `any` is
Mistral's word."""

_WORDS = {mode: word for word, mode in _MODES.items()}


def read_tool_choice(
    raw: Raw, request: ChatRequest, name_of: Callable[[Members], str | None], allowed_in: str = ""
) -> None:
    """Read `tool_choice`, which may be absent. `name_of` is the name of the function that a tool
    is, None for another tool, the choice of which no other vendor supports. `allowed_in`: the
    member of the object with the allowed tools, "" for the object itself."""
    name = "tool_choice"
    if present(raw) is None:
        return
    if bytes(raw)[:1] == b'"':
        mode = _READ.get(Members({name: raw}).text(name) or "")
        if mode is None:
            raise WrongType(name, "none, auto, required or an object")
        request.tool_choice = ToolChoice(mode)
        return
    request.tool_choice = _read_choice(Members(raw, name), name_of, allowed_in)
    if request.tool_choice is None:
        request.unread.append(name)


def _read_choice(
    choice: Members, name_of: Callable[[Members], str | None], allowed_in: str
) -> ToolChoice | None:
    """The choice of one tool, or among some; None if one of them is no function."""
    if choice.peek("type") != b'"allowed_tools"':
        name = name_of(choice)
        return None if name is None else ToolChoice("any", (name,))
    allowed = choice.members(allowed_in) if allowed_in else choice
    if allowed is None:
        raise choice.wrong(allowed_in, "an object")
    names = [name_of(tool) for tool in allowed.objects("tools")]
    if None in names:
        return None
    mode = allowed.text("mode")
    if mode not in ("auto", "required"):
        raise allowed.wrong("mode", "auto or required")
    return ToolChoice(_MODES[mode], tuple(name for name in names if name is not None))


def write_tool_choice(choice: ToolChoice, function: Callable[[str], Json]) -> object:
    """With the allowed tools as responses have them. `function` chooses one by its name."""
    if not choice.names or choice.mode == "none":
        return _WORDS[choice.mode]
    functions = [function(name) for name in choice.names]
    if choice.mode == "any" and len(functions) == 1:
        return functions[0]
    return {"type": "allowed_tools", "mode": _WORDS[choice.mode], "tools": functions}


def other_members(request: JsonObject, harmless: Mapping[str, Container[bytes]]) -> Extra:
    """The members of a request that only its own language knows: those of `harmless` unless they
    have one of these values, and the unknown ones."""
    own = {name: raw for name in harmless if (raw := getattr(request, name)) and raw != NULL}
    if not own:  # nearly always
        return request.extra
    texts = {name: bytes(raw).replace(b" ", b"") for name, raw in own.items()}
    return {name: own[name] for name in own if texts[name] not in harmless[name]} | request.extra


def read_schema(form: Members) -> OutputFormat:
    output = OutputFormat(
        kind="json_schema",
        schema=form.raw("schema"),
        name=form.text("name") or "",
        description=form.text("description") or "",
        strict=form.boolean("strict"),
    )
    form.rest()
    return output


def write_strict(
    strict: bool | None, schema: Raw | None, place: str, losses: Losses
) -> bool | None:
    """None where a model cannot be held to the schema, which the vendor refuses."""
    if not strict or is_strict(schema):
        return strict
    reason = "an object is open, or does not require all of its properties"
    losses.add(place, reason, hint=True)
    return None


def write_schema(request: ChatRequest, output: OutputFormat, losses: Losses | None) -> Json:
    """The members that describe the schema of an answer; its name is a required one. Without
    `losses` they are as the caller wrote them."""
    members: Json = {"name": output.name or "response"}
    if output.description:
        members["description"] = output.description
    members["schema"] = output.schema
    strict = output.strict
    if losses is not None:
        place = request.places.get("strict", request.place_of("schema"))
        strict = write_strict(strict, output.schema, place, losses)
    return members if strict is None else {**members, "strict": strict}


def write_sampling(
    request: ChatRequest, model: str, effort: str | None, losses: Losses
) -> dict[str, Raw]:
    """The sampling members for a model with this effort. A model that accepts none gets none; for a
    temperature or top_p of 1 that is no loss."""
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


def lose_penalties(request: ChatRequest, losses: Losses) -> None:
    for name in PENALTIES if request.presence_penalty or request.frequency_penalty else ():
        if (penalty := getattr(request, name)) is not None and bytes(penalty) not in _ZEROS:
            losses.add(request.place_of(name), "the model takes none")


def write_verbosity(request: ChatRequest, model: str, losses: Losses) -> str | None:
    if not request.verbosity:
        return None
    if takes_verbosity(model):
        return request.verbosity
    if request.verbosity != "medium":
        losses.add(request.place_of("verbosity"), "the model has only one verbosity", hint=True)
    return None
