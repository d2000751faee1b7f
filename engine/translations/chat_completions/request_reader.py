"""Chat completions requests -> the neutral form, and the signatures that are sealed for other
vendors in a request that is relayed as it came."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

from engine.translations.chat_completions import content_reader
from engine.translations.chat_completions import request_shapes as shapes
from engine.translations.chat_completions.answer_fields import NAME
from engine.translations.neutral import content as neutral
from engine.translations.neutral.json_members import NULL, Members
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    Message,
    MissingTurns,
    Role,
    Thinking,
    Tool,
    read_numbers,
)
from engine.translations.neutral.request_json import UnknownObject, present
from engine.translations.vendors import openai_request_fields as openai_fields
from engine.translations.vendors import openai_schemas
from engine.values.json_spans import JsonPath
from engine.values.trees import Json

_PLACES = {
    "parallel_calls": "parallel_tool_calls",
    "output": "response_format",
    "schema": "response_format.json_schema.schema",
    "strict": "response_format.json_schema.strict",
    "candidates": "n",
    "thinking": "reasoning_effort",
}
_HARMLESS = {
    "store": (b"false",),
    "logit_bias": (b"{}",),
    "modalities": (b'["text"]',),
    "repetition_penalty": (b"1", b"1.0"),
    "min_p": (b"0", b"0.0"),
    "search_parameters": (b'{"mode":"off"}',),  # xAI's
}
_other_members = openai_fields.other_members(_HARMLESS)
_QWEN = ("enable_thinking", "thinking_budget")
_SWITCHES = ("enable_thinking", "thinking")
_rare_members = attrgetter(
    *("function_call", "response_format", "random_seed", "web_search_options", "provider"),
    *("reasoning_effort", "reasoning", "thinking", "chat_template_kwargs", *_QWEN),
)
"""The members that few requests have: all are false where none is there."""


def read_request(body: bytes, line: RequestLine) -> ChatRequest:
    unread: list[str] = []
    members = shapes.RequestObject.read(body, "", unread)
    messages = [
        _read_message(each, f"messages[{index}]", unread)
        for index, each in enumerate(members.messages or ())
    ]
    missing = list(_spoken_turns(members, messages)) if b'"audio"' in body else []
    system, messages = _hoisted(members, messages)
    request = ChatRequest(
        language=NAME,
        model=members.model or line.model,
        messages=messages,
        system=system,
        id=line.id,
        time=line.time,
        stream=members.stream or False,
        stream_usage=bool(members.stream_options and members.stream_options.include_usage),
        tools=_read_tools(members, unread),
        parallel_calls=False if members.functions else members.parallel_tool_calls,
        one_call=bool(members.functions),
        places=dict(_PLACES),
        unread=unread,
        missing_turns=missing,
    )
    openai_fields.read_tool_choice(members.tool_choice, request, nested=True)
    _read_sampling(members, request)
    if any(_rare_members(members)):
        _read_rare(members, request)
    request.extra = _other_members(members)
    request.unread.extend(request.extra)
    return request


def _read_rare(members: shapes.RequestObject, request: ChatRequest) -> None:
    """Read the members that few requests have."""
    unread = request.unread
    choice = request.tool_choice
    openai_fields.read_tool_choice(members.function_call, request, place="function_call")
    if choice not in (None, request.tool_choice):
        unread.append("function_call")
        request.tool_choice = choice
    if present(members.response_format) is not None:
        form = Members(members.response_format, "response_format", unread)
        openai_schemas.read_format(form, request, nested=True)
    if present(members.random_seed) is not None:  # Mistral
        if request.seed is None:
            request.seed, request.places["seed"] = members.random_seed, "random_seed"
        elif bytes(request.seed) != bytes(members.random_seed):
            unread.append("random_seed")
    if present(members.web_search_options) is not None:
        raw, place = members.web_search_options, "web_search_options"
        search = BuiltInTool(name=place, raw=raw, kind="web_search", place=place)
        request.tools = [*request.tools, search]
        Members(raw, place, unread).rest()  # each option is this vendor's
    _read_thinking(members, request)
    if present(members.provider) is not None:  # OpenRouter's
        Members(members.provider, "provider", unread).rest()


def _spoken_turns(members: shapes.RequestObject, messages: list[Message]) -> Iterator[MissingTurns]:
    """The answers of which only the vendor has the words: the message has the id of the audio."""
    instead = "Send the transcript of the audio as 'content'."
    for each, message in zip(members.messages or (), messages, strict=True):
        if "audio" in each.extra and message.role == "assistant" and not message.blocks:
            yield MissingTurns(f"{message.place}.audio", instead)


def _read_message(message: shapes.MessageObject, place: str, unread: list[str]) -> Message:
    role, read = _ROLES[type(message)]
    return Message(role=role, blocks=read(message, place, unread), place=place)


def _read_content(
    message: shapes.SystemMessage | shapes.DeveloperMessage | shapes.UserMessage,
    place: str,
    unread: list[str],
) -> list[neutral.Block]:
    return content_reader.read_content(message.content, f"{place}.content", unread)


_ROLES: dict[
    type[shapes.MessageObject], tuple[Role, Callable[[Any, str, list[str]], list[neutral.Block]]]
] = {
    shapes.SystemMessage: ("system", _read_content),
    shapes.DeveloperMessage: ("system", _read_content),
    shapes.UserMessage: ("user", _read_content),
    shapes.AssistantMessage: ("assistant", content_reader.read_assistant_blocks),
    shapes.FunctionMessage: ("user", content_reader.read_result),
    shapes.ToolMessage: ("user", content_reader.read_result),
}
"""The role of each kind of message, and what reads its blocks."""


def _hoisted(
    members: shapes.RequestObject, messages: list[Message]
) -> tuple[list[neutral.Text], list[Message]]:
    """The blocks of the instructions at the beginning, and the messages after them."""
    system: list[neutral.Text] = []
    for index, message in enumerate(messages):
        texts = [block for block in message.blocks if isinstance(block, neutral.Text)]
        is_text = message.role == "system" and len(texts) == len(message.blocks)
        if not is_text or members.messages is None or members.messages[index].extra:
            return system, messages[index:]
        system += texts
    return system, []


def _read_tools(members: shapes.RequestObject, unread: list[str]) -> list[Tool | BuiltInTool]:
    tools = [
        _read_tool(tool, f"tools[{index}]", unread)
        for index, tool in enumerate(members.tools or ())
    ]
    if members.functions:
        tools += [
            openai_fields.read_function(function, f"functions[{index}]")
            for index, function in enumerate(members.functions)
        ]
    return tools


def _read_tool(
    tool: shapes.ToolObject | UnknownObject, place: str, unread: list[str]
) -> Tool | BuiltInTool:
    if isinstance(tool, UnknownObject):
        if tool.kind:
            return BuiltInTool(name=tool.kind, raw=tool.raw, place=place)
        tool = shapes.ToolObject.read(tool.raw, place, unread)
    declaration = openai_fields.read_function(tool.function, place, "function.parameters")
    declaration.cache = neutral.read_cache_mark(tool.extra) or declaration.cache
    return declaration


def _read_sampling(members: shapes.RequestObject, request: ChatRequest) -> None:
    request.max_tokens = members.max_tokens
    if members.max_completion_tokens is not None:  # it replaced the other
        if members.max_tokens not in (None, members.max_completion_tokens):
            request.unread.append("max_tokens")
        request.max_tokens = members.max_completion_tokens
        request.places["max_tokens"] = "max_completion_tokens"
    read_numbers(members, request)
    request.candidates = members.n
    request.logprobs = members.logprobs or False
    request.top_logprobs = members.top_logprobs
    request.verbosity = members.verbosity or ""
    request.user = members.user or ""
    stop = members.stop or []
    request.stop = [stop] if isinstance(stop, str) else stop


def _read_thinking(members: shapes.RequestObject, request: ChatRequest) -> None:
    """How much the model is to think, also in members that vendors have added: `reasoning`
    (OpenRouter), `thinking` (DeepSeek, Z.ai, LiteLLM), `enable_thinking` and `thinking_budget`
    (Qwen), and switches in `chat_template_kwargs` (vLLM)."""
    readings: dict[str, Thinking | None] = {}
    if (effort := members.reasoning_effort) not in (None, "default"):  # of Qwen's at Groq
        readings["reasoning_effort"] = Thinking(effort=effort, off=effort == "none")
    for name, read in (("reasoning", _read_reasoning), ("thinking", _read_switch)):
        if (raw := present(getattr(members, name))) is not None:
            readings[name] = read(Members(raw, name, request.unread))
    qwen = Members({name: getattr(members, name) or NULL for name in _QWEN})
    thinks, budget = qwen.boolean(_QWEN[0]), qwen.integer(_QWEN[1])
    switches = {_QWEN[0]: thinks}
    if present(members.chat_template_kwargs) is not None:
        options = Members(members.chat_template_kwargs, "chat_template_kwargs", request.unread)
        switches |= {options.place_of(each): options.boolean(each) for each in _SWITCHES}
        options.rest()
    for name, on in switches.items():
        readings[name] = None if on is None else Thinking(off=not on, adaptive=on)
    if budget is not None:
        readings[_QWEN[1]] = Thinking(budget=budget or None, off=thinks is False or budget == 0)
    stated = [(name, thinking) for name, thinking in readings.items() if thinking is not None]
    for name, thinking in stated[:1]:
        request.thinking, request.places["thinking"] = thinking, name
    request.unread += [name for name, thinking in stated[1:] if not stated[0][1].joined(thinking)]


def _read_reasoning(reasoning: Members) -> Thinking | None:
    effort, budget = reasoning.text("effort") or "", reasoning.integer("max_tokens")
    enabled, hidden = reasoning.boolean("enabled"), reasoning.boolean("exclude")
    reasoning.rest()
    if enabled is None and not (effort or budget):
        return None
    off, adaptive = enabled is False or effort == "none", not (effort or budget)
    thinking = Thinking(off=off, effort=effort, budget=budget, adaptive=adaptive and not off)
    thinking.visible = False if hidden else None
    return thinking


def _read_switch(thinking: Members) -> Thinking:
    kind, budget = thinking.text("type"), thinking.integer("budget_tokens")
    if kind not in ("enabled", "disabled", "adaptive", "auto"):
        raise thinking.wrong("type", "enabled, disabled, adaptive or auto")
    thinking.rest()
    off = kind == "disabled"
    return Thinking(off=off, budget=budget, adaptive=not off and budget is None)


_DETAILS = "reasoning_details"
_FIELDS = "provider_specific_fields"


def without_seals(request: object) -> neutral.Changes:
    changes: dict[JsonPath, bytes | None] = {}
    for index, message in neutral.objects(request, "messages"):
        place: JsonPath = ("messages", index)
        changes.update(neutral.without_objects(message, _DETAILS, place, _is_sealed))
        fields = message.get(_FIELDS)
        changes.update(neutral.without_objects(fields, _DETAILS, (*place, _FIELDS), _is_sealed))
    return changes


def _is_sealed(detail: Json) -> bool:
    return neutral.is_sealed(detail.get("signature")) or neutral.is_sealed(detail.get("data"))
