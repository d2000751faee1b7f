"""One choice of an answer -> neutral events, in a stream and in one piece alike.

The parts of a choice may interleave: the fragments of several tool calls, and text between them.
Blocks may not, so what comes while a call is not complete waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from msgspec import Raw
from msgspec.structs import replace

from engine.dialects.interface.error_forms import FAILED_REASONS, NO_REASONS
from engine.translations.chat_completions import answer_fields as fields
from engine.translations.chat_completions.calls import (
    AnnouncedCalls,
    CallNumbers,
    has_whole_arguments,
    is_complete,
    single_calls,
)
from engine.translations.chat_completions.thoughts import Detail, read_extra
from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.answer_json import is_blank
from engine.translations.neutral.calls import call_id, check_buffer, unwrapped, wrapped_calls
from engine.translations.neutral.json_members import Members

Key = tuple[str, int | str]
"""The kind of a block, and which one of that kind."""

_TEXT: Key = ("text", 0)
_REFUSAL: Key = ("refusal", 0)
_DETAIL, _SIGNATURE = "reasoning_details", "signature"
"""The kinds of thoughts that are an entry of this member, and a signature of what follows."""

_EVENT_SIZE = 100  # of one that waits, beside its text


class ChoiceReader:
    """Reads the deltas of one choice; a whole message is one delta."""

    finish: events.Finish | None = None
    is_whole = False
    """Whether a delta is a whole message: each call in it is one of its own."""

    _cites = False
    _open: Key | None = None
    _size = _text_start = _text_length = 0

    def __init__(self, candidate: int, answer_id: str) -> None:
        self._candidate = candidate
        self._answer_id = answer_id
        self._opened: set[Key] = set()
        self._arguments: list[str] = []
        self._waiting: dict[Key, tuple[neutral.Block, list[str]]] = {}
        self._announced = AnnouncedCalls()
        self._calls = CallNumbers()
        self._citations: list[neutral.Citation] = []
        """Those that came before the text which they belong to."""
        self._details: dict[Key, Detail] = {}
        self._message_signature = ""

    @property
    def needs_sources(self) -> bool:
        """Whether the choice has a text and cites nothing."""
        return self._text_length > 0 and not self._cites

    @property
    def has_begun(self) -> bool:
        return bool(self._opened or self._announced.waiting)

    @property
    def has_called(self) -> bool:
        """Whether its last parts are calls with whole arguments."""
        if self._in_call() or not self._announced.is_whole:
            return False
        for (kind, _), (_, texts) in self._waiting.items():
            if kind != "call" or not has_whole_arguments(texts):
                return False
        return bool(self._announced.waiting) or (self._open is not None and self._open[0] == "call")

    def delta(self, delta: fields.Message, output: list[events.Event]) -> None:
        """Append the events of one delta or message. Raises BrokenAnswer or WrongType."""
        if delta.reasoning_content or delta.reasoning or delta.reasoning_details:
            self._read_reasoning(delta, output)
        text = delta.content
        if isinstance(text, list):  # Mistral
            self._read_parts(text, output)
        elif text or (text := delta.text if isinstance(delta.text, str) else ""):
            if self._open is _TEXT:  # nearly every delta
                output.append(events.Delta(text, self._candidate))
            else:
                self._add(output, _TEXT, neutral.Text, text)
            self._text_length += len(text)
        if delta.annotations:
            self._read_citations(delta.annotations, output)
        if delta.refusal:
            self._add(output, _REFUSAL, neutral.Refusal, delta.refusal)
        if delta.extra_content and (signature := read_extra(delta.extra_content, message=True)):
            self._message_signature = signature
        if delta.tool_calls or delta.function_call or delta.images or delta.audio:
            self._read_others(delta, output)

    def stop(self, reason: str, sequence: object = None) -> None:
        """The reason of the end and the stop sequence that was met: the first counts, as some
        vendors repeat it. Raises BrokenAnswer for a vendor's failure."""
        if reason in FAILED_REASONS:
            raise events.BrokenAnswer(f"the upstream's answer was aborted: {reason}")
        if self.finish is None and reason not in NO_REASONS:
            stop = fields.why_stopped(reason)
            self.finish = events.Finish(stop=stop, native=reason)
            if stop == "end" and sequence and isinstance(sequence, str):
                self.finish.stop, self.finish.sequence = "stop_sequence", sequence

    def close(self, sources: Iterable[neutral.Citation] = ()) -> Iterator[events.Event]:
        """Everything that waited, and the end of the last block. The `sources` of the choice belong
        to its text, while that is open: not every stream has a place for them behind it."""
        is_late = self._open != _TEXT
        cites = [events.Cite(each, self._candidate, late=is_late) for each in sources]
        output: list[events.Event] = [] if is_late else [*cites]
        if self._announced.waiting or self._message_signature:
            self._begin_calls(output)
        self._close(output)
        for key, (block, texts) in self._waiting.items():
            yield from output
            output = []
            self._begin(output, key, block)
            output += [events.Delta(text, self._candidate) for text in texts]
            self._close(output)
        yield from output
        yield from cites if is_late else ()
        self._waiting = {}

    def _read_reasoning(self, delta: fields.Message, output: list[events.Event]) -> None:
        details = delta.reasoning_details or ()
        for position, fragment in enumerate(details):
            entry = Members(fragment, f"{_DETAIL}[{position}]")
            index = entry.peek("index").decode() or str(position)
            key: Key = (_DETAIL, f"{entry.peek('type').decode()} {index}")
            thoughts, size = self._details.setdefault(key, Detail()).add(entry)
            self._count(size)
            if thoughts or (size and key != self._open):
                self._add(output, key, neutral.Reasoning, thoughts)
        texts = () if details else (delta.reasoning_content, delta.reasoning)
        for name, text in zip(fields.REASONING_MEMBERS, texts, strict=False):
            if text:
                self._add(output, ("reasoning", name), neutral.Reasoning, text)
                return

    def _read_citations(self, annotations: Raw, output: list[events.Event]) -> None:
        """Some vendors give the sources before or behind the text."""
        citations = fields.read_annotations(annotations)
        self._cites = self._cites or bool(citations)
        if self._open == _TEXT:
            output += fields.citations_in(citations, self._text_start, self._candidate)
        elif _TEXT in self._opened and _TEXT not in self._waiting:
            output += [events.Cite(each, self._candidate, late=True) for each in citations]
        elif citations:
            self._citations += citations
            self._count(len(bytes(annotations)))

    def _read_parts(self, parts: list[fields.ContentPart], output: list[events.Event]) -> None:
        """A content that is a list: its thoughts, texts and images, each in its place. References
        name sources, and say nothing without the request. Raises BrokenAnswer for other content."""
        for part in parts:
            if part.thinking or part.type in fields.THOUGHT_PARTS:
                if thoughts := fields.read_thinking(part):
                    self._add(output, ("thinking", 0), neutral.Reasoning, thoughts)
            elif text := fields.text_of(part):
                self._add(output, _TEXT, neutral.Text, text)
                self._text_length += len(text)
            elif part.refusal:
                self._add(output, _REFUSAL, neutral.Refusal, part.refusal)
            elif part.image_url is not None:
                self._add_image(fields.read_image(part, "content"), output)
            elif part.text is None and part.type not in fields.EMPTY_PARTS:
                raise events.uncarried(part.type or "part")

    def _read_others(self, delta: fields.Message, output: list[events.Event]) -> None:
        """Calls and images. Raises BrokenAnswer for a sound, for which nobody can have asked."""
        if delta.audio and not is_blank(delta.audio):
            raise events.BrokenAnswer("the upstream's answer has audio, which was not asked for")
        for call in single_calls(delta.tool_calls or ()):
            self._read_call(call, output)
        function = delta.function_call
        if function is not None and (function.name or function.arguments) and not delta.tool_calls:
            self._read_call(fields.Call(index=0, function=function), output)
        for position, image in enumerate(delta.images or ()):
            self._add_image(fields.read_image(image, f"images[{position}]"), output)

    def _add_image(self, image: neutral.Media, output: list[events.Event]) -> None:
        key: Key = "image", len(self._opened) + len(self._waiting)
        self._add(output, key, partial(replace, image))

    def _read_call(self, fragment: fields.Call, output: list[events.Event]) -> None:
        vendor_id, function = fragment.id or "", fragment.function or fragment
        name, arguments = function.name or "", function.arguments or function.parameters or ""
        if self.is_whole:
            number = self._calls.begin(None, vendor_id)
        else:
            number = self._calls.number(fragment.index, vendor_id, name, self._has_partial_call)
        if name and not vendor_id and self._announced.is_empty(number):
            number = self._calls.begin(fragment.index, "")
        elif self._is_behind(number, name, arguments):
            name = name or self._announced.name(number)
            is_repeated = unwrapped(arguments) == "".join(self._arguments)
            if is_repeated and name == self._announced.name(number):
                return  # some servers repeat a call at its end
            number, vendor_id = self._calls.begin(fragment.index, ""), ""
        begun = self._announced.has_begun(number, name)
        if fragment.extra_content and number not in self._announced.signatures:
            self._sign(number, read_extra(fragment.extra_content, late=begun), output, late=begun)
        if begun and arguments:
            call = partial(neutral.ToolCall, id=vendor_id, name=name)
            self._add(output, ("call", number), call, arguments)
        if begun:
            return
        self._count(len(name) + len(arguments) + _EVENT_SIZE)
        own_id = vendor_id or call_id(f"{self._answer_id}:{number}")
        if self._announced.add(number, own_id, name, arguments):
            self._begin_calls(output, number)

    def _is_behind(self, number: int, name: str, arguments: str) -> bool:
        """Whether a fragment of the open call comes behind its arguments, which are complete: some
        servers number all calls 0, and Gemini's gives them no ids."""
        if self._open != ("call", number):
            return False
        is_other = name not in ("", self._announced.name(number))
        begins = is_other or arguments.lstrip().startswith(("{", '"'))
        return begins and is_complete(self._arguments)

    def _sign(self, number: int, signature: str, output: list[events.Event], *, late: bool) -> None:
        """Keep the signature of a call until the call begins; a `late` one follows the call."""
        if signature:
            self._count(len(signature))
            self._announced.signatures[number] = signature
        if signature and late:
            self._add(output, (_SIGNATURE, signature), neutral.Reasoning)

    def _begin_calls(self, output: list[events.Event], last: int | None = None) -> None:
        """Begin the announced calls up to the `last`, or all, each behind its signature."""
        signature, self._message_signature = self._message_signature, ""
        if signature:
            self._add(output, (_SIGNATURE, signature), neutral.Reasoning)
        for number, call, arguments in self._announced.take(last):
            if signature := self._announced.signatures.get(number, ""):
                self._add(output, (_SIGNATURE, signature), neutral.Reasoning)
            for position, (each, text) in enumerate(wrapped_calls(call, arguments)):
                key = "call", self._calls.begin(None, "") if position else number
                self._add(output, key, partial(replace, each), text)

    def _add(
        self,
        output: list[events.Event],
        key: Key,
        block: Callable[[], neutral.Block],
        text: str = "",
    ) -> None:
        """Add a text to a block, which `block` makes: now, or when the open call is complete."""
        if key != self._open:
            if self._announced.waiting and key[0] not in ("call", _SIGNATURE):
                self._begin_calls(output)
            if self._waiting or self._in_call():  # no block can begin, or go on
                self._wait(key, block, text)
                return
            self._close(output)
            self._begin(output, key, block())
        if not text:
            return
        if key[0] == "call":
            self._arguments.append(text)
            self._count(len(text))
        output.append(events.Delta(text, self._candidate))

    def _wait(self, key: Key, block: Callable[[], neutral.Block], text: str) -> None:
        if key not in self._waiting:
            self._waiting[key] = block(), []
        if text:
            self._waiting[key][1].append(text)
        self._count(len(text) + (2 if text else 1) * _EVENT_SIZE)

    def _count(self, size: int) -> None:
        self._size += size
        check_buffer(self._size)

    def _in_call(self) -> bool:
        """Whether the open block is a call whose arguments are not complete."""
        is_call = self._open is not None and self._open[0] == "call"
        return is_call and not is_complete(self._arguments)

    def _has_partial_call(self) -> bool:
        return self._announced.lacks_arguments or (not self._waiting and self._in_call())

    def _begin(self, output: list[events.Event], key: Key, block: neutral.Block) -> None:
        if key[0] == "call" and key in self._opened:
            raise events.BrokenAnswer("the upstream's answer continues a tool call that had ended")
        if isinstance(block, neutral.ToolCall) and not block.name:
            raise events.BrokenAnswer("the upstream's answer has a tool call without a name")
        self._opened.add(key)
        self._open, self._arguments = key, []
        output.append(events.Open(block, self._candidate))
        self._text_start = self._text_length
        if key == _TEXT and self._citations:
            output += fields.citations_in(self._citations, self._text_start, self._candidate)
            self._citations = []

    def _close(self, output: list[events.Event]) -> None:
        if self._open is None:
            return
        kind, name = self._open
        if kind == _DETAIL:
            output.append(events.Sign(self._details[self._open].signature, self._candidate))
        elif kind in ("reasoning", _SIGNATURE):  # the name of a member returns with the thoughts
            output.append(events.Sign(neutral.Signature(fields.NAME, str(name)), self._candidate))
        self._open = None
        output.append(events.Close(self._candidate))
