"""Neutral events -> the events of a responses stream.

The last event repeats the whole answer, so its items are kept; together they are bounded.
"""

from __future__ import annotations

from typing import Any

from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.calls import check_buffer
from engine.translations.neutral.json_members import WrongType, encode, on_one_line
from engine.translations.neutral.request import ChatRequest
from engine.translations.responses import answer_writer
from engine.translations.responses.caller_tools import needs_whole
from engine.translations.vendors.openai_content import write_logprobs
from engine.values.trees import Json
from engine.values.usage import Usage

_TEXT_DELTA = (
    b"event: response.output_text.delta\n"
    b'data: {"type":"response.output_text.delta","sequence_number":%d,%b,"delta":%b,"logprobs":[]}'
    b"\n\n"
)

_ANNOTATION = "response.output_text.annotation.added"
_ITEM_SIZE = 200
"""What an item, a citation or a token counts beside its text."""


class Writer(events.FirstCandidateWriter):
    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        self._sequence = 0
        self._head: Json = {}
        self._items = answer_writer.Items("", request)
        self._message: list[Json] | None = None
        self._item = ""
        self._ended_item: Any = None
        """The item that ended last, unless a message: whether it is complete, what follows says."""
        self._wrong_arguments: WrongType | None = None
        self._block: neutral.Block | None = None
        self._text = bytearray()  # a list of pieces takes ten times as much
        self._part: Json = {}
        """The members that say which part is open; `_part_members` is their text."""
        self._part_members = b""
        self._logprobs: list[events.TokenLogprob] = []
        self._texts = answer_writer.CitedTexts()
        self._size = 0

    def _start(self, event: events.Start) -> bytes:
        self._head = answer_writer.response_head(event, self._request)
        self._items = answer_writer.Items(self._head["id"], self._request)
        return b"".join(
            self._event(f"response.{kind}", {"response": self._head})
            for kind in ("created", "in_progress")
        )

    def _open(self, block: neutral.Block) -> bytes:
        self._block, self._text = block, bytearray()
        self._logprobs = []
        self._grow(_ITEM_SIZE)
        if self._wrong_arguments is not None:
            raise self._wrong_arguments
        if isinstance(block, neutral.Text | neutral.Refusal):
            return self._open_part(block)
        output = self._end_item()
        self._item = self._items.next_id(block)
        item = answer_writer.write_item(block, self._item, self._request, "in_progress")
        return output if item is None else output + self._item_event("added", item)

    def _open_part(self, block: neutral.Text | neutral.Refusal) -> bytes:
        output = b""
        if self._message is None:
            output = self._end_item()
            self._message = []
            self._item = self._items.next_id(block)
            output += self._item_event(
                "added", answer_writer.write_message(self._item, [], "in_progress")
            )
        self._part = {
            "item_id": self._item,
            "output_index": len(self._items.output),
            "content_index": len(self._message),
        }
        self._part_members = encode(self._part)[1:-1]
        added = self._in_part(
            "response.content_part.added", {"part": answer_writer.write_part(block, [])}
        )
        return output + added

    def _delta(self, text: str) -> bytes:
        is_first = not self._text
        self._text += text.encode()
        self._grow(len(text))
        block = self._block
        if isinstance(block, neutral.Text):  # nearly every delta
            self._sequence += 1
            return _TEXT_DELTA % (self._sequence - 1, self._part_members, encode(text))
        if isinstance(block, neutral.ToolCall):
            if needs_whole(block, self._request):
                return b""
            if is_first and text.isspace():  # it may be all, and stand for `{}`
                self._text.clear()
                return b""
            return self._in_item("response.function_call_arguments.delta", {"delta": text})
        if isinstance(block, neutral.Reasoning):
            begin = self._summary("part.added", {"part": _summary("")}) if is_first else b""
            return begin + self._summary("text.delta", {"delta": text})
        return self._in_part("response.refusal.delta", {"delta": text})

    def _sign(self, signature: neutral.Signature) -> bytes:
        if isinstance(self._block, neutral.Reasoning):
            self._block.signature = signature
            self._grow(len(signature.value))
        return b""

    def _cite(self, citation: neutral.Citation, late: bool) -> bytes:
        """Keep a citation until its text is complete, whose length says its place."""
        block = self._block
        if not citation.url:
            return b""
        self._grow(_ITEM_SIZE + len(citation.url) + len(citation.title) + len(citation.cited))
        if late:
            members = self._texts.cite(citation)
            return b"" if members is None else self._event(_ANNOTATION, members)
        if isinstance(block, neutral.Text):
            block.citations.append(citation)
        return b""

    def _tokens(self, event: events.Tokens) -> bytes:
        """The log probabilities of text that was written before."""
        if not isinstance(self._block, neutral.Text):
            return b""
        self._logprobs += event.logprobs
        self._grow(_ITEM_SIZE * sum(1 + len(each.top) for each in event.logprobs))
        logprobs = write_logprobs(event.logprobs)
        return self._in_part("response.output_text.delta", {"delta": "", "logprobs": logprobs})

    def _close(self) -> bytes:
        block, text = self._block, self._text.decode()
        self._block = None
        if block is None:
            return b""
        if isinstance(block, neutral.Text | neutral.Refusal):
            block.text = text
            return self._close_part(block)
        output = b""
        if isinstance(block, neutral.ToolCall):
            block.arguments = text or "{}"
            try:
                self._ended_item = answer_writer.write_item(block, self._item, self._request)
            except WrongType as error:  # the arguments may have been cut off
                self._wrong_arguments = error
                return b""
            return self._call_done(self._ended_item, whole=not text)
        if isinstance(block, neutral.Reasoning):
            block.text = text
            if text:
                output = self._summary("text.done", {"text": text})
                output += self._summary("part.done", {"part": _summary(text)})
        self._ended_item = answer_writer.write_item(block, self._item, self._request)
        return output

    def _call_done(self, item: Json, *, whole: bool) -> bytes:
        """The end of what a call is given; `whole`: nothing of it has been written."""
        if item["type"] in ("tool_search_call", "local_shell_call"):
            return b""
        if item["type"] == "custom_tool_call":
            kind, name, whole = "custom_tool_call_input", "input", True
        else:
            kind, name = "function_call_arguments", "arguments"
        text = item[name]
        output = self._in_item(f"response.{kind}.delta", {"delta": text}) if whole else b""
        more = {"name": item["name"]} if name == "arguments" else {}
        return output + self._in_item(f"response.{kind}.done", {**more, name: text})

    def _close_part(self, block: neutral.Text | neutral.Refusal) -> bytes:
        part = answer_writer.write_part(block, self._logprobs)
        if isinstance(block, neutral.Refusal):
            output = self._in_part("response.refusal.done", {"refusal": block.text})
        else:
            cited = self._texts.add(block, part, self._part)
            output = b"".join(self._event(_ANNOTATION, members) for members in cited)
            logprobs = part["logprobs"]
            text = {"text": block.text, "logprobs": logprobs}
            output += self._in_part("response.output_text.done", text)
        output += self._in_part("response.content_part.done", {"part": part})
        assert self._message is not None
        self._message.append(part)
        return output

    def _end_item(self, *, cut: bool = False) -> bytes:
        """The end of the last item; `cut`: the answer was cut in it."""
        item, self._ended_item = self._ended_item, None
        if self._message is not None:
            item, self._message = answer_writer.write_message(self._item, self._message), None
        if item is None:
            return b""
        item = answer_writer.as_incomplete(item) if cut else item
        output = self._item_event("done", item)
        self._items.output.append(item)
        return output

    def _end(self, finish: events.Finish, usage: Usage | None) -> bytes:
        output = b""
        if finish.explanation:
            output = self._open(neutral.Refusal()) + self._delta(finish.explanation) + self._close()
        if self._wrong_arguments is not None and finish.stop != "length":
            raise self._wrong_arguments
        output += self._end_item(cut=answer_writer.is_cut(finish))
        response = answer_writer.ended(self._head, finish, self._items.output, usage)
        return output + self._event(f"response.{response['status']}", {"response": response})

    def _grow(self, size: int) -> None:
        """Count what is kept until the end."""
        self._size += size
        check_buffer(self._size)

    def _item_event(self, kind: str, item: object) -> bytes:
        members = {"output_index": len(self._items.output), "item": item}
        return self._event(f"response.output_item.{kind}", members)

    def _in_item(self, kind: str, members: Json) -> bytes:
        place = {"item_id": self._item, "output_index": len(self._items.output)}
        return self._event(kind, {**place, **members})

    def _in_part(self, kind: str, members: Json) -> bytes:
        return self._event(kind, {**self._part, **members})

    def _summary(self, kind: str, members: Json) -> bytes:
        kind = f"response.reasoning_summary_{kind}"
        return self._in_item(kind, {"summary_index": 0, **members})

    def _event(self, kind: str, members: Json) -> bytes:
        document = {"type": kind, "sequence_number": self._sequence, **members}
        self._sequence += 1
        return b"event: %b\ndata: %b\n\n" % (kind.encode(), on_one_line(encode(document)))


def _summary(text: str) -> Json:
    return {"type": "summary_text", "text": text}
