"""Responses answers -> neutral events, in one piece and in a stream."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from engine.dialects.interface.error_forms import FAILED
from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.calls import call_id, name_of_answer, unwrapped, wrapped_calls
from engine.translations.neutral.json_members import NULL
from engine.translations.neutral.refusals import is_error
from engine.translations.responses import answer_fields as fields
from engine.translations.vendors.openai_content import ERRORS, read_logprobs

FUNCTION_CALL = "function_call"
PARTS = ("output_text", "refusal", "reasoning_text", "summary_text", "text")
_COMPLETED = ("completed", "complete", "done", "success", "succeeded", "finished", "stop")
_IMAGE = "image_generation_call"
_READ = ("message", FUNCTION_CALL, "reasoning", _IMAGE)
_OMISSIBLE = (
    *("code_interpreter_call", "mcp_call", "mcp_list_tools"),
    *("tool_search_output", "additional_tools", "program", "program_output"),
    *("compaction", "function_call_output", "custom_tool_call_output", "computer_call_output"),
    *("local_shell_call_output", "shell_call_output", "apply_patch_call_output"),
    *("mcp_approval_response", "custom_tool_call"),
)
"""Items of tools that the vendor runs (xAI's are `custom_tool_call`: no request that is translated
declares such a tool), and such that repeat the request."""

_CALLERS = ("tool_search_call", "mcp_approval_request")
"""Calls that the caller has to answer, of tools that only this language has, as are others."""


def read_answer(body: bytes) -> Iterator[events.Event]:
    response = fields.RESPONSE.read(body)
    if response.status is None and is_error(response.error):
        raise ERRORS.inside(msgspec.json.decode(body))
    if response.output is None and not response.output_text and not is_error(response.error):
        ERRORS.refuse_whole(body)
        raise events.BrokenAnswer("the upstream's answer has no output")
    head = fields.HEAD.read(body)
    yield read_start(head)
    name = name_of_answer(head.id, body)
    if response.output_text and not response.output:  # what SDKs make of the output
        yield from events.whole_block(neutral.Text(), response.output_text)
    for kind, raw, place in read_items(response):
        yield from read_item(kind, raw, place, name)
    yield read_end(response)


def read_items(response: fields.Response) -> Iterator[tuple[str, Raw, str]]:
    """The items of an answer: their kinds, JSON texts and places."""
    for index, raw in enumerate(response.output or ()):
        if raw != NULL:
            place = f"output[{index}]"
            yield item_kind(raw, place), raw, place


def item_kind(raw: Raw, place: str) -> str:
    """The kind of an item: its type, or what its members say if that is not known here."""
    item = fields.ITEM.read(raw, place)
    kind = item.type or ""
    if kind in _READ or kind in _CALLERS or _is_omissible(kind):
        return kind
    if item.name != NULL and item.arguments != NULL:
        return FUNCTION_CALL
    if item.role != NULL and item.content != NULL:
        return "message"
    return kind if item.summary == NULL else "reasoning"


def _is_omissible(kind: str) -> bool:
    """Also searches of vendors (xAI's `x_search_call`) and the tools of OpenRouter's own
    (`openrouter:web_search`)."""
    is_search = kind.endswith("_search_call") and kind not in _CALLERS
    return kind in _OMISSIBLE or is_search or ":" in kind


def read_start(head: fields.Head) -> events.Start:
    return events.Start(id=head.id or "", model=head.model or "", created=int(head.created_at or 0))


def read_item(kind: str, raw: Raw, place: str, name: str) -> list[events.Event]:
    """The events of a complete item; `name` is for a call without an id."""
    if kind == "message":
        content = fields.MESSAGE.read(raw, place).content or ()
        if isinstance(content, str):  # as in requests
            return events.whole_block(neutral.Text(), content)
        return [event for part in content for event in _read_part(part)]
    if kind == FUNCTION_CALL:
        call = fields.CALL.read(raw, place)
        calls = wrapped_calls(read_call(call, name, place), unwrapped(call.arguments or ""))
        return [event for each, text in calls for event in events.whole_block(each, text)]
    if kind == "reasoning":
        item = fields.THOUGHTS.read(raw, place)
        signature = fields.read_signature(item.encrypted_content or "", item.id or "")
        signed = [] if signature is None else [events.Sign(signature)]
        text = fields.thoughts(item.summary, item.content)
        return events.whole_block(neutral.Reasoning(), text, signed)
    block = neutral.Foreign(kind=kind or "item", omissible=_is_omissible(kind))
    if kind == _IMAGE:
        image = fields.IMAGE_CALL.read(raw, place)
        block.omissible = not image.result  # it has failed
        if image.result:
            source = neutral.Inline(f"image/{image.output_format or 'png'}", image.result)
            block.substitute = neutral.Media(kind="image", source=source)
    return events.whole_block(block)


def _read_part(part: fields.Part) -> list[events.Event]:
    is_refusal = part.type == "refusal" or (part.text is None and part.refusal is not None)
    if part.text is None and not is_refusal and part.type not in PARTS:
        raise events.uncarried(part.type or "part")
    marks: list[events.Event] = [
        events.Cite(each) for each in fields.read_citations(part.annotations)
    ]
    if tokens := read_logprobs(part.logprobs):
        marks.append(events.Tokens(tokens))
    if is_refusal:
        return events.whole_block(neutral.Refusal(), part.refusal or "", marks)
    return events.whole_block(neutral.Text(), part.text or "", marks)


def read_call(call: fields.Call, name: str, place: str) -> neutral.ToolCall:
    """The call of an item, without its arguments. Raises BrokenAnswer."""
    if not call.name:
        raise events.BrokenAnswer("the upstream's answer has a tool call without a name")
    return neutral.ToolCall(
        id=call.call_id or call.id or call_id(f"{name}:{place}"), name=call.name
    )


def read_end(response: fields.Response) -> events.End:
    status = response.status or "completed"
    if status == FAILED or is_error(response.error):
        raise ERRORS.inside({"error": msgspec.json.decode(response.error)})
    if status in _COMPLETED:
        finish = events.Finish(stop="end", native=status)
    elif status == "incomplete":
        details = response.incomplete_details
        reason = None if details is None else details.reason
        filtered = reason == "content_filter"
        finish = events.Finish(stop="filter" if filtered else "length", native=reason or status)
    else:
        raise events.BrokenAnswer(f"the upstream's answer ended with the status '{status[:40]}'")
    return events.End(finishes={0: finish})
