"""Neutral answers -> responses: the objects that both an answer in one piece and a stream have."""

from __future__ import annotations

from collections.abc import Iterator

from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.answer import Answer, Candidate, CitableTexts, complete_blocks
from engine.translations.neutral.calls import answer_id
from engine.translations.neutral.json_members import encode
from engine.translations.neutral.request import ChatRequest
from engine.translations.responses import answer_fields as fields
from engine.translations.responses.caller_tools import call_item, call_prefix, needs_whole
from engine.translations.vendors.openai_content import write_logprobs
from engine.translations.vendors.openai_request_fields import write_tool_choice
from engine.translations.vendors.openai_schemas import write_format
from engine.values.trees import Json
from engine.values.usage import Usage

_REASONS = {"length": "max_output_tokens", "filter": "content_filter"}
_WITH_STATUS = ("message", "function_call", "reasoning", "tool_search_call")


def write_answer(answer: Answer, request: ChatRequest) -> bytes:
    """An answer in one piece; of several candidates the first."""
    candidate = answer.candidates[0]
    head = response_head(answer, request)
    items = Items(head["id"], request)
    logprobs = candidate.logprobs
    blocks = _blocks(candidate, request)
    for block in blocks:
        items.add(block, logprobs if isinstance(block, neutral.Text) else [])
        logprobs = [] if isinstance(block, neutral.Text) else logprobs
    items.finish()
    if is_cut(candidate.finish) and len(blocks) >= len(candidate.blocks):
        items.cut_last()
    return encode(ended(head, candidate.finish, items.output, answer.usage))


def _blocks(candidate: Candidate, request: ChatRequest) -> list[neutral.Block]:
    """The blocks; why an answer was filtered is a refusal. A call that was cut off at the limit of
    tokens is left out if its item needs all of its arguments."""
    blocks, finish = candidate.blocks, candidate.finish
    last = blocks[-1] if blocks else None
    if isinstance(last, neutral.ToolCall) and needs_whole(last, request):
        blocks = complete_blocks(candidate)
    return [*blocks, *([neutral.Refusal(text=finish.explanation)] if finish.explanation else [])]


def is_cut(finish: events.Finish) -> bool:
    """Whether an answer ends before the model would have ended it."""
    return finish.stop in _REASONS


def as_incomplete(item: object) -> object:
    """The last item of an answer that was cut."""
    if isinstance(item, dict) and item["type"] in _WITH_STATUS:
        return {**item, "status": "incomplete"}
    return item


class Items:
    """The items of an answer in `output`: neighbouring texts are parts of one message."""

    def __init__(self, identity: str, request: ChatRequest) -> None:
        self.output: list[object] = []
        self._request = request
        self._suffix = identity.removeprefix(fields.PREFIX)
        self._parts: list[Json] = []
        self._ends_with_item = False

    def add(self, block: neutral.Block, logprobs: list[events.TokenLogprob]) -> None:
        if isinstance(block, neutral.Text | neutral.Refusal):
            self._parts.append(write_part(block, logprobs))
            return
        self.finish()
        item = write_item(block, self.next_id(block), self._request)
        self._ends_with_item = item is not None
        if item is not None:
            self.output.append(item)

    def finish(self) -> None:
        """Add the message of the parts up to now, if there are any."""
        if self._parts:
            self.output.append(write_message(self.next_id(neutral.Text()), self._parts))
            self._parts, self._ends_with_item = [], True

    def cut_last(self) -> None:
        if self._ends_with_item:
            self.output[-1] = as_incomplete(self.output[-1])

    def next_id(self, block: neutral.Block) -> str:
        """The id of the next item, which begins with this block."""
        if isinstance(block, neutral.ToolCall):
            prefix = call_prefix(block, self._request)
        else:
            prefix = _PREFIXES.get(type(block), "msg")
        return f"{prefix}_{self._suffix}_{len(self.output)}"


_PREFIXES: dict[type[neutral.Block], str] = {neutral.Reasoning: "rs", neutral.Media: "ig"}


def write_part(block: neutral.Text | neutral.Refusal, logprobs: list[events.TokenLogprob]) -> Json:
    if isinstance(block, neutral.Refusal):
        return {"type": "refusal", "refusal": block.text}
    length = len(block.text)
    return {
        "type": "output_text",
        "text": block.text,
        "annotations": [
            fields.write_annotation(each, length) for each in block.citations if each.url
        ],
        "logprobs": write_logprobs(logprobs),
    }


def write_message(item_id: str, parts: list[Json], status: str = "completed") -> Json:
    message = {"id": item_id, "type": "message", "status": status}
    return {**message, "role": "assistant", "content": parts}


def write_item(
    block: neutral.Block, item_id: str, request: ChatRequest, status: str = "completed"
) -> object:
    """The item of a block that is not part of a message; None for one of another vendor. Raises
    BrokenAnswer, and WrongType for a call whose arguments are no object where they must be one."""
    if isinstance(block, neutral.ToolCall):
        return call_item(block, item_id, status, request)
    if isinstance(block, neutral.Reasoning):
        item: Json = {"id": item_id, "type": "reasoning", "summary": fields.summary_of(block)}
        if block.signature is not None or status != "in_progress":
            item["encrypted_content"] = neutral.seal(
                block.signature or neutral.NO_SIGNATURE, fields.NAME
            )
        return item
    if isinstance(block, neutral.Media):
        if block.kind != "image" or not isinstance(block.source, neutral.Inline):
            raise events.uncarried(block.kind)
        result = None if status == "in_progress" else block.source.data
        members = {"type": "image_generation_call", "status": status, "result": result}
        return {"id": item_id, **members}
    return None


def response_head(answer: Answer | events.Start, request: ChatRequest) -> Json:
    """The members of a response that its beginning has, most of which repeat the request."""
    choice, extra = request.tool_choice, request.extra
    return {
        "id": answer_id(fields.PREFIX, answer.id or request.id),
        "object": "response",
        "created_at": answer.created or request.time,
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": request.system[0].text if request.system else None,
        "max_output_tokens": request.max_tokens,
        "model": answer.model or request.model,
        "output": [],
        "parallel_tool_calls": request.parallel_calls is not False,
        "previous_response_id": None,
        "reasoning": extra.get("reasoning", {"effort": None, "summary": None}),
        "store": False,
        "temperature": request.temperature,
        "text": {"format": write_format(request) or {"type": "text"}},
        "tool_choice": "auto" if choice is None else write_tool_choice(choice, str),
        "tools": extra.get("tools", []),
        "top_p": request.top_p,
        "truncation": "disabled",
        "usage": None,
        "user": request.user or None,
        "metadata": extra.get("metadata", {}),
    }


def ended(head: Json, finish: events.Finish, output: list[object], usage: Usage | None) -> Json:
    reason = _REASONS.get(finish.stop)
    return {
        **head,
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": output,
        "usage": None if usage is None else fields.write_counts(usage),
    }


class CitedTexts:
    """The complete texts of an answer, each with its part and the members that say which it is."""

    def __init__(self) -> None:
        self._texts: list[tuple[neutral.Text, Json, Json]] = []
        self._citable = CitableTexts()

    def add(self, text: neutral.Text, part: Json, place: Json) -> Iterator[Json]:
        """A text is complete. Returns the members of an event for each of its annotations."""
        self._texts.append((text, part, place))
        self._citable.add(text)
        for index, annotation in enumerate(part["annotations"]):
            yield {**place, "annotation_index": index, "annotation": annotation}

    def cite(self, citation: neutral.Citation) -> Json | None:
        """Add a late citation to its text's part. Returns the members of its event, if any."""
        if (position := self._citable.cite(citation)) is None:
            return None
        text, part, place = self._texts[position]
        annotations = part["annotations"]
        annotations.append(fields.write_annotation(text.citations[-1], len(text.text)))
        return {**place, "annotation_index": len(annotations) - 1, "annotation": annotations[-1]}
