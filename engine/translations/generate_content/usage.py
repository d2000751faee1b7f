"""The tokens of an answer (`usageMetadata`), both ways."""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct
from msgspec.json import Decoder

from engine.translations.neutral.content import Extra
from engine.translations.neutral.events import Usage
from engine.translations.neutral.shapes import read_shape


class Counts(Struct, rename="camel"):
    """`usageMetadata`."""

    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    total_token_count: int | None = None


_COUNTS = Decoder(Counts)
_NO_COUNTS = Counts()
_MOST = 32
"""Counts that are kept before those that say nothing are forgotten."""

_NULL = Raw(b"null")


class UsageReader:
    """The usage of an answer. Each event of a stream reports the sums so far; the last report of
    each count is the one that is true."""

    def __init__(self) -> None:
        self._reports: Extra = {}

    def read(self, report: Extra) -> None:
        """Take the next report: `usageMetadata`."""
        if _NULL in report.values():
            report = {name: count for name, count in report.items() if count != _NULL}
        self._reports |= report
        if len(self._reports) > _MOST:
            known = Counts.__struct_encode_fields__
            self._reports = {name: self._reports[name] for name in known if name in self._reports}

    def usage(self) -> Usage | None:
        """The usage so far, None if nothing was reported. The candidates' count leaves thoughts
        out, unless the total shows that it has them. Raises WrongType."""
        counts = read_shape(_COUNTS, msgspec.json.encode(self._reports), "usageMetadata")
        if counts == _NO_COUNTS:
            return None
        prompt = _positive(counts.prompt_token_count)
        prompt += _positive(counts.tool_use_prompt_token_count)
        output = _positive(counts.candidates_token_count)
        thoughts = _positive(counts.thoughts_token_count)
        total = _positive(counts.total_token_count)
        if thoughts and (not total or total > prompt + output):
            output += thoughts
        return Usage(
            input=prompt,
            output=output,
            cached=min(_positive(counts.cached_content_token_count), prompt),
            reasoning=min(thoughts, output),
        )


def _positive(count: int | None) -> int:
    return count if count is not None and count > 0 else 0


def write_usage(usage: Usage | None) -> dict[str, dict[str, int]]:
    """The member of an answer, none without usage."""
    if usage is None:
        return {}
    counts = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": max(usage.output - usage.reasoning, 0),
        "totalTokenCount": usage.input + usage.output,
    }
    if usage.cached:
        counts["cachedContentTokenCount"] = usage.cached
    if usage.reasoning:
        counts["thoughtsTokenCount"] = usage.reasoning
    return {"usageMetadata": counts}
