"""The tokens of an answer (`usageMetadata`), both ways."""

from __future__ import annotations

from msgspec import Raw

from engine.translations.neutral.content import Extra
from engine.translations.neutral.events import Usage
from engine.translations.neutral.members import Members

_COUNTS = (
    *("promptTokenCount", "toolUsePromptTokenCount", "cachedContentTokenCount"),
    *("candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount"),
)
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
            self._reports = _known(self._reports)

    def usage(self) -> Usage | None:
        """The usage so far, None if nothing was reported. The candidates' count leaves thoughts
        out, unless the total shows that it has them. Raises WrongType."""
        reports = _known(self._reports)
        if not reports:
            return None
        counts = Members(reports, "usageMetadata")
        prompt, tool_use, cached, output, thoughts, total = (
            max(counts.integer(name) or 0, 0) for name in _COUNTS
        )
        prompt += tool_use
        if thoughts and (not total or total > prompt + output):
            output += thoughts
        return Usage(
            input=prompt,
            output=output,
            cached=min(cached, prompt),
            reasoning=min(thoughts, output),
        )


def _known(reports: Extra) -> Extra:
    return {name: reports[name] for name in _COUNTS if name in reports}


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
