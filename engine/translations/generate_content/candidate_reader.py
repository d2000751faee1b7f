"""One candidate of an answer -> neutral events, in a stream and in one piece alike."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import msgspec
from msgspec import Raw

from engine.dialects.interface.error_forms import NO_REASONS
from engine.translations.generate_content import answer_fields as fields
from engine.translations.generate_content import part_fields
from engine.translations.generate_content.citations import CitationReader
from engine.translations.generate_content.partial_arguments import PartialArguments
from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.answer_json import is_blank, raw_at
from engine.translations.neutral.calls import arguments_of, call_id
from engine.translations.neutral.json_members import NULL, WrongType

_OMISSIBLE = (
    *("executableCode", "codeExecutionResult", "toolCall", "toolResponse", "functionResponse"),
    *("mediaResolution", "mediaProcessing"),
)
"""Tools that the vendor runs and their results, and facts of other parts."""

_NO_REASONS = ("FINISH_REASON_UNSPECIFIED", *NO_REASONS)
_KNOWN = ("text", "thought", "thoughtSignature", "functionCall", "inlineData", "fileData")


class CandidateReader:
    """Calls without ids get them from `answer`, a text that other answers do not have."""

    _open: type[neutral.Block] | None = None
    _partial: PartialArguments | None = None
    _signature: neutral.Signature | None = None
    _calls = 0
    _has_content = False
    reason = _explanation = ""

    def __init__(self, index: int, answer: str) -> None:
        self._index = index
        self._answer = answer
        self._citations = CitationReader(index)

    def read(
        self, candidate: fields.Candidate, position: int, data: bytes
    ) -> Iterable[events.Event]:
        """`position` is that in the candidates of the answer, whose JSON text is `data`."""
        output: list[events.Event] = []
        try:
            if candidate.content is not None:
                for at, part in enumerate(candidate.content.parts or ()):
                    self._part(part, (position, at), data, output)
            if candidate.grounding_metadata or candidate.citation_metadata:
                with suppress(WrongType):
                    self._read_citations(candidate, position, output)
            if candidate.logprobs_result:
                members = {"logprobsResult": candidate.logprobs_result}
                with suppress(WrongType):
                    if tokens := fields.read_logprobs(
                        part_fields.Fields(members, _place(position))
                    ):
                        output.append(events.Tokens(tokens, self._index))
        except (events.BrokenAnswer, WrongType) as error:
            return events.interrupted(output, error)
        reason = candidate.finish_reason
        if reason and reason not in _NO_REASONS and not self.reason:
            self.reason = reason
            self._explanation = candidate.finish_message or ""
        return output

    def end(self) -> list[events.Event]:
        output: list[events.Event] = []
        self._flush_signature(output)
        self._close(output)
        return output

    def finish(self, missing: str) -> events.Finish:
        """Why the candidate ended, `missing` if it has content and does not say so."""
        if self._partial is not None:
            raise events.BrokenAnswer("the upstream's answer ended inside a tool call")
        reason = self.reason or (missing if self._has_content else "")
        return fields.read_finish(reason, self._explanation, content=self._has_content)

    def _read_citations(
        self, candidate: fields.Candidate, position: int, output: list[events.Event]
    ) -> None:
        is_open = self._open is neutral.Text
        if is_open or self._citations.offsets.length:
            members = {
                "groundingMetadata": candidate.grounding_metadata or NULL,
                "citationMetadata": candidate.citation_metadata or NULL,
            }
            output += self._citations.read(
                part_fields.Fields(members, _place(position)), late=not is_open
            )

    def _part(
        self, part: fields.Part, at: tuple[int, int], data: bytes, output: list[events.Event]
    ) -> None:
        text, call = part.thought_signature, part.function_call
        if self._partial is not None and call is None:
            raise events.BrokenAnswer("the upstream's answer has other content inside a tool call")
        if self._signature is not None:
            self._flush_signature(output)
        if part.thought and call is None:
            self._text(neutral.Reasoning, part.text or "", output)
            if text is not None:
                self._sign(neutral.Signature(part_fields.NAME, part_fields.THOUGHT + text), output)
            return
        # Any other part is kept whole, with its signature.
        if text is not None and (part.text is not None or call is not None or _has_media(part)):
            self._signature = part_fields.read_signature(text)
            if part.text == "" and call is None and not _has_media(part):
                return  # citations of the text before it may follow
            self._flush_signature(output)
        if part.text is not None:
            self._text(neutral.Text, part.text, output)
            self._citations.offsets.add(part.text)
        if call is not None:
            self._call(call, at, output)
        elif not part.text and (part.text is None or _has_media(part)):
            block = _other_block(part, at, data)
            self._has_content |= not (isinstance(block, neutral.Foreign) and block.omissible)
            self._begin(block, output)
            self._close(output)

    def _text(
        self,
        kind: type[neutral.Text] | type[neutral.Reasoning],
        text: str,
        output: list[events.Event],
    ) -> None:
        if not text:
            return
        if self._open is not kind:
            self._has_content = self._has_content or kind is neutral.Text
            self._begin(kind(), output)
        output.append(events.Delta(text, self._index))

    def _flush_signature(self, output: list[events.Event]) -> None:
        if self._signature is not None:
            signature, self._signature = self._signature, None
            self._sign(signature, output)

    def _sign(self, signature: neutral.Signature, output: list[events.Event]) -> None:
        """Sign the thoughts before the block that the signature came with."""
        if self._open is not neutral.Reasoning:
            self._begin(neutral.Reasoning(), output)
        output.append(events.Sign(signature, self._index))
        self._close(output)

    def _call(self, call: fields.Call, at: tuple[int, int], output: list[events.Event]) -> None:
        """A call, whole or its next arguments."""
        continues = call.will_continue or False
        if self._partial is None:
            self._begin_call(call, output)
            if not continues and call.partial_args is None:
                if call.args != NULL:
                    output.append(events.Delta(arguments_of(call.args) or "{}", self._index))
                self._close(output)
                return
            self._partial = PartialArguments()
        place = f"{_place(*at)}.functionCall.partialArgs"
        for number, raw in enumerate(call.partial_args or ()):
            self._partial.add(part_fields.Fields(raw, f"{place}[{number}]"))
        if not continues:
            output.append(events.Delta(self._partial.json(), self._index))
            self._partial = None
            self._close(output)

    def _begin_call(self, call: fields.Call, output: list[events.Event]) -> None:
        self._calls += 1
        self._has_content = True
        if not call.name:
            raise events.BrokenAnswer("the upstream's answer has a tool call without a name")
        position = f"call_{self._answer}_{self._index}_{self._calls}"
        own_id = call.id or call_id(position, 40)
        name = call.name.removeprefix("default_api:").removeprefix("default_api.") or call.name
        self._begin(neutral.ToolCall(id=own_id, name=name), output)

    def _begin(self, block: neutral.Block, output: list[events.Event]) -> None:
        self._close(output)
        self._open = type(block)
        self._citations.begin_block()
        output.append(events.Open(block, self._index))

    def _close(self, output: list[events.Event]) -> None:
        if self._open is not None:
            self._open = None
            output.append(events.Close(self._index))


def _place(candidate: int, part: int | None = None) -> str:
    place = f"candidates[{candidate}]"
    return place if part is None else f"{place}.content.parts[{part}]"


def _has_media(part: fields.Part) -> bool:
    return (part.inline_data, part.file_data) != (NULL, NULL)


def _other_block(part: fields.Part, at: tuple[int, int], data: bytes) -> neutral.Block:
    """The block of a part that is neither text nor a call: whole, if its kind is not known here."""
    place = _place(*at)
    if part.inline_data != NULL:
        blob = part_fields.Blob.read(part.inline_data, f"{place}.inlineData", [])
        return part_fields.inline_media(blob)
    if part.file_data != NULL:
        file = part_fields.FileData.read(part.file_data, f"{place}.fileData", [])
        return part_fields.linked_media(file)
    raw = raw_at(data, "candidates", at[0], "content", "parts", at[1])
    members = part_fields.Fields(raw, place).copy()
    kinds = [name for name in members if name not in _KNOWN]
    kind = next((name for name in kinds if _has_content(name, members[name])), "")
    return neutral.Foreign(kind=kind or next(iter(kinds), "part"), omissible=not kind)


def _has_content(name: str, raw: Raw) -> bool:
    """Whether a member of a part says something to callers of other languages."""
    if name in _OMISSIBLE or name.endswith("Metadata"):
        return False
    return not is_blank(msgspec.json.decode(raw))
