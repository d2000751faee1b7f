"""The tokens of an answer (`usageMetadata`), both ways."""

from __future__ import annotations

from engine.translations.neutral.content import Extra
from engine.translations.neutral.events import Usage
from engine.translations.neutral.members import Members

_COUNTS = (
    *("promptTokenCount", "toolUsePromptTokenCount", "cachedContentTokenCount"),
    *("candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount"),
)
_NAMES = frozenset(_COUNTS)


class UsageReader:
    """The usage of an answer. Each event of a stream reports the sums so far; the last report of
    each count is the one that is true."""

    def __init__(self) -> None:
        self._reports: Extra = {}

    def read(self, counts: Members | None) -> None:
        """Take the next report."""
        if counts is None:
            return
        report = counts.copy()
        self._reports |= {name: report[name] for name in report.keys() & _NAMES}

    def usage(self) -> Usage | None:
        """The usage so far, None if nothing was reported. The candidates' count leaves thoughts
        out, unless the total shows that it has them. Raises WrongType."""
        if not self._reports:
            return None
        counts = Members(dict(self._reports), "usageMetadata")
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
