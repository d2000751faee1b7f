"""One candidate of an answer -> neutral events, in a stream and in one piece alike."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Raw

from engine.translations.generate_content.fields import NAME, THOUGHT, field, read_signature
from engine.translations.neutral.content import (
    Block,
    Citation,
    Foreign,
    Inline,
    Media,
    Reasoning,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import (
    BrokenAnswer,
    Cite,
    Close,
    Delta,
    Event,
    Finish,
    Open,
    Sign,
    Stop,
    TokenLogprob,
    Tokens,
)
from engine.translations.neutral.members import Members
from engine.translations.neutral.names import call_id

_STOPS: dict[str, Stop] = {"STOP": "end", "MAX_TOKENS": "length"}
_BROKEN = (
    *("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"),
    *("MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE", "OTHER", "NO_IMAGE"),
)
"""Ends of an answer that went wrong: nothing was filtered."""

_CODE = ("executableCode", "codeExecutionResult")


class CandidateReader:
    """Reads the pieces of one candidate. Calls without ids get them from the answer's id."""

    def __init__(self, index: int, answer: str) -> None:
        self._index = index
        self._answer = answer
        self._open: type[Block] | None = None
        self._calls = 0
        self._has_content = False
        self._reason = ""
        self._explanation = ""

    def read(self, candidate: Members) -> Iterator[Event]:
        """The events of one piece."""
        content = candidate.members("content")
        if content is not None:
            place = content.place_of("parts")
            for position, raw in enumerate(content.items("parts") or ()):
                yield from self._part(raw, content.child(raw, f"{place}[{position}]"))
        yield from self._citations(candidate)
        yield from self._tokens(candidate)
        reason = candidate.text(field(candidate, "finishReason"))
        if reason and reason != "FINISH_REASON_UNSPECIFIED" and not self._reason:
            self._reason = reason
            self._explanation = candidate.text(field(candidate, "finishMessage")) or ""

    def close(self) -> Iterator[Event]:
        """The end of the open block."""
        if self._open is not None:
            self._open = None
            yield Close(self._index)

    def finished(self) -> Finish:
        """Why the candidate ended. Raises BrokenAnswer if it has not, or went wrong."""
        reason = self._reason
        if not reason:
            raise BrokenAnswer("the upstream's answer ended without a finish reason")
        if reason in _BROKEN:
            if not self._has_content:
                raise BrokenAnswer(f"the upstream's answer ended with {reason} and no content")
            return Finish(stop="end", native=reason)
        stop = _STOPS.get(reason, "filter")
        if stop == "end" and self._calls:
            stop = "tool_calls"
        explanation = self._explanation if stop == "filter" else ""
        return Finish(stop=stop, native=reason, explanation=explanation)

    def _part(self, raw: Raw, part: Members) -> Iterator[Event]:
        signature = part.text(field(part, "thoughtSignature"))
        if part.boolean("thought"):
            own = None if signature is None else Signature(NAME, THOUGHT + signature)
            yield from self._text(Reasoning, part.text("text") or "")
            if own is not None:
                yield from self._sign(own)
            return
        if signature is not None:
            yield from self._sign(read_signature(signature))
        if (text := part.text("text")) is not None:
            yield from self._text(Text, text)
        elif (call := part.members(field(part, "functionCall"))) is not None:
            yield from self._call(call)
        elif (blob := part.members(field(part, "inlineData"))) is not None:
            yield from self._whole(_media(blob))
        else:
            kind = next((name for name in _CODE if name in part), "part")
            yield from self._whole(Foreign(language=NAME, kind=kind, raw=raw))

    def _text(self, kind: type[Text] | type[Reasoning], text: str) -> Iterator[Event]:
        if not text:
            return
        self._has_content = True
        if self._open is not kind:
            yield from self._begin(kind())
        yield Delta(text, self._index)

    def _sign(self, signature: Signature) -> Iterator[Event]:
        """Sign the thoughts before the block that the signature came with."""
        if self._open is not Reasoning:
            yield from self._begin(Reasoning())
        yield Sign(signature, self._index)
        yield from self.close()

    def _call(self, call: Members) -> Iterator[Event]:
        self._calls += 1
        name = call.text("name") or ""
        if not name:
            raise BrokenAnswer("the upstream's answer has a tool call without a name")
        made = call_id(f"call_{self._answer}_{self._index}_{self._calls}", 40)
        yield from self._begin(ToolCall(id=call.text("id") or made, name=name))
        arguments = bytes(call.raw("args") or b"").decode()
        self._has_content = True
        if arguments:
            yield Delta(arguments, self._index)
        yield from self.close()

    def _whole(self, block: Block) -> Iterator[Event]:
        self._has_content = True
        yield from self._begin(block)
        yield from self.close()

    def _begin(self, block: Block) -> Iterator[Event]:
        yield from self.close()
        self._open = type(block)
        yield Open(block, self._index)

    def _citations(self, candidate: Members) -> Iterator[Event]:
        """What the text cites; the vendor counts bytes, so places are not carried."""
        grounding = candidate.members(field(candidate, "groundingMetadata"))
        if grounding is None or self._open is not Text:
            return
        chunks = []
        for chunk in grounding.objects(field(grounding, "groundingChunks")):
            web = chunk.members("web")
            chunks.append(("", "") if web is None else (web.text("uri"), web.text("title")))
        for support in grounding.objects(field(grounding, "groundingSupports")):
            segment = support.members("segment")
            cited = "" if segment is None else segment.text("text") or ""
            for raw in support.items(field(support, "groundingChunkIndices")) or ():
                index = int(bytes(raw)) if bytes(raw).isdigit() else len(chunks)
                if index < len(chunks) and chunks[index][0]:
                    url, title = chunks[index]
                    yield Cite(Citation(url=url or "", title=title or "", cited=cited), self._index)

    def _tokens(self, candidate: Members) -> Iterator[Event]:
        result = candidate.members(field(candidate, "logprobsResult"))
        if result is None:
            return
        tops = [
            [_token(each) for each in top.objects("candidates")]
            for top in result.objects(field(result, "topCandidates"))
        ]
        chosen = [_token(each) for each in result.objects(field(result, "chosenCandidates"))]
        tops += [[]] * (len(chosen) - len(tops))
        tokens = [TokenLogprob(*each, top) for each, top in zip(chosen, tops, strict=False)]
        yield Tokens(tokens, self._index)


def _token(entry: Members) -> tuple[str, float]:
    return entry.text("token") or "", entry.number(field(entry, "logProbability")) or 0.0


def _media(blob: Members) -> Media:
    media_type = blob.text(field(blob, "mimeType")) or ""
    kind = media_type.partition("/")[0]
    return Media(
        kind=kind if kind in ("image", "audio", "video") else "document",  # type: ignore[arg-type]
        source=Inline(media_type, blob.text("data") or ""),
    )
