"""Responses requests -> the neutral form.

The vendor stores a response unless the request says `store: false`. A request that does not mention
`store` asks for nothing that another vendor could not do, so it is translated, and the answer says
`store: false`; `store: true`, and whatever refers to something stored, is a loss.

Signatures that are sealed for other vendors are removed from a request that is relayed as it came.
"""

from __future__ import annotations

from msgspec import Raw

from engine.translations.neutral import content as neutral
from engine.translations.neutral.json_members import Members, encode
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.request import ChatRequest, Message, MissingTurns, Thinking
from engine.translations.neutral.request_json import present
from engine.translations.responses.answer_fields import NAME
from engine.translations.responses.caller_tools import read_tools
from engine.translations.responses.compaction import TRIGGER, ask_for_summary, retained_items
from engine.translations.responses.content_reader import read_item
from engine.translations.responses.request_shapes import RequestObject
from engine.translations.vendors import openai_request_fields as openai_fields
from engine.translations.vendors import openai_schemas

_HARMLESS = {
    "store": (b"false",),
    "background": (b"false",),
    "truncation": (b'"disabled"',),
    "stream_options": (b"{}", b'{"include_obfuscation":false}', b'{"include_obfuscation":true}'),
}

_other_members = openai_fields.other_members(_HARMLESS)

_ALL_ITEMS = "Send 'store': false and all items of the conversation in 'input'."
_STORED = {
    "previous_response_id": _ALL_ITEMS,
    "conversation": _ALL_ITEMS,
    "prompt": "Send its text as 'instructions' and 'input'.",
}
"""Members that refer to turns which the vendor has stored, and what to send instead."""

_COMMON_INCLUDES = ("message.output_text.logprobs", "reasoning.encrypted_content")
"""What other languages give, too."""

_PLACES = {
    "messages": "input",
    "parallel_calls": "parallel_tool_calls",
    "verbosity": "text.verbosity",
    "output": "text.format",
    "schema": "text.format.schema",
    "strict": "text.format.strict",
    "max_tokens": "max_output_tokens",
    "thinking": "reasoning",
}


def read_request(body: bytes, line: RequestLine) -> ChatRequest:
    unread: list[str] = []
    members = RequestObject.read(body, "", unread)
    request = ChatRequest(
        language=NAME,
        model=members.model or line.model,
        messages=[],
        stream=members.stream or False,
        parallel_calls=members.parallel_tool_calls,
        max_tokens=members.max_output_tokens,
        temperature=present(members.temperature),
        top_p=present(members.top_p),
        top_logprobs=members.top_logprobs or None,
        user=members.user or "",
        id=line.id,
        time=line.time,
        places=dict(_PLACES),
        unread=unread,
    )
    request.messages = _messages(members, request)
    if members.instructions is not None:
        request.system = [neutral.Text(text=members.instructions, place="instructions")]
    request.tools = read_tools(members.tools, "tools", request)
    openai_fields.read_tool_choice(members.tool_choice, request)
    _read_options(members, request)
    _keep_others(members, request)
    if members.tools:
        request.extra["tools"] = Raw(encode(members.tools))
    if line.compacts:
        ask_for_summary(request, "input", line)
        assert request.compaction is not None
        request.compaction.retained = retained_items(members.input)
    elif trigger := _take_trigger(request.messages):
        ask_for_summary(request, trigger, line)
    return request


def _take_trigger(messages: list[Message]) -> str:
    """Remove the last item if it asks for a summary; its place, "" for another one."""
    last = messages[-1].blocks[0] if messages and messages[-1].blocks else None
    if not isinstance(last, neutral.Foreign) or last.kind != TRIGGER:
        return ""
    return messages.pop().place


def _messages(members: RequestObject, request: ChatRequest) -> list[Message]:
    if isinstance(members.input, str):
        text = neutral.Text(text=members.input, place="input")
        return [Message(role="user", blocks=[text], place="input")]
    return [
        message
        for index, raw in enumerate(members.input or ())
        if (message := read_item(raw, f"input[{index}]", request)) is not None
    ]


def _keep_others(members: RequestObject, request: ChatRequest) -> None:
    others = _other_members(members)
    if not others:
        return
    request.unread.extend(others)
    if stored := _STORED.keys() & others:
        name = min(stored)
        request.missing_turns.append(MissingTurns(name, _STORED[name]))
    request.extra |= others


def _read_options(members: RequestObject, request: ChatRequest) -> None:
    if (text := present(members.text)) is not None:
        _read_text(Members(text, "text", request.unread), request)
    if (reasoning := present(members.reasoning)) is not None:
        request.extra["reasoning"] = reasoning
        _read_reasoning(Members(reasoning, "reasoning", request.unread), request)
    if (include := present(members.include)) is not None:
        _read_include(include, request)


def _read_text(text: Members, request: ChatRequest) -> None:
    request.verbosity = text.text("verbosity") or ""
    if (form := text.members("format")) is not None:
        openai_schemas.read_format(form, request)
    text.rest()


def _read_reasoning(reasoning: Members, request: ChatRequest) -> None:
    effort, summary = reasoning.text("effort"), reasoning.text("summary")
    summary = summary or reasoning.text("generate_summary")
    if reasoning.peek("mode") == b'"standard"':
        reasoning.raw("mode")
    if effort is not None or summary is not None:
        request.thinking = Thinking(
            effort=effort or "", off=effort == "none", visible=True if summary else None
        )
    reasoning.rest()


def _read_include(raw: Raw, request: ChatRequest) -> None:
    name = "include"
    include = Members({name: raw}).texts(name) or []
    request.logprobs = "message.output_text.logprobs" in include
    request.places["logprobs"] = name
    request.unread.extend(name for each in include if each not in _COMMON_INCLUDES)


def without_seals(request: object) -> neutral.Changes:
    return {
        ("input", index): None
        for index, item in neutral.objects(request, "input")
        if neutral.is_sealed(item.get("encrypted_content"))
    }
