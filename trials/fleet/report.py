"""What a fault showed: figures, and laws that held or did not."""

from __future__ import annotations

from dataclasses import dataclass, field

from trials.fleet.load import Result, most_within
from trials.fleet.processes import Kill


@dataclass
class Report:
    """Lines of figures, and the laws by which they are judged."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def figure(self, name: str, text: str) -> None:
        self.lines.append((name, text))

    def law(self, holds: bool, name: str, text: str) -> None:
        """A figure with its verdict; `text` says figure and bound."""
        self.lines.append((name, text if holds else f"{text}   BROKEN"))
        if not holds:
            self.broken.append(name)

    def requests(self, results: list[Result], kill: Kill | None = None) -> None:
        """Sent, refused and lost; lost may be only those in flight at a `kill`."""
        lost_results = [result for result in results if not result.finished]
        refusals = sum(result.finished and not result.success for result in results)
        wrong = sum(not result.right for result in results)
        self.figure("sent", f"{len(results):,}, refused {refusals:,}")
        allowed = [] if kill is None else [r for r in lost_results if r.in_flight(kill)]
        flying = 0 if kill is None else sum(r.in_flight(kill) for r in results)
        where = f" of {flying} in flight at the kill" if kill else ""
        text = f"{len(lost_results)}{where}"
        if len(lost_results) > len(allowed):
            text += f"; {len(lost_results) - len(allowed)} at other times: {_kinds(lost_results)}"
        self.law(len(lost_results) == len(allowed), "lost", text)
        self.law(wrong == 0, "wrong", f"{wrong} answers were not those to their requests")

    def limit(self, results: list[Result], window: float, most: int, law: str) -> None:
        """The requests that passed in any window: at most as many as the `law` allows."""
        passed = most_within(results, window)
        text = f"{passed} passed in {window:.0f} s, at most {most}: {law}"
        self.law(passed <= most, "limits", text)

    def text(self, name: str, title: str) -> str:
        """The report for people."""
        width = max(len(key) for key, _ in self.lines)
        body = "\n".join(f"  {key:<{width}}  {text}" for key, text in self.lines)
        verdict = f"BROKEN: {', '.join(self.broken)}" if self.broken else "holds"
        return f"{name}: {title}\n{body}\n  {'law':<{width}}  {verdict}\n"


def _kinds(lost_results: list[Result]) -> str:
    kinds: dict[str, int] = {}
    for result in lost_results:
        kind = f"{result.status or 'no response'} {result.code}".strip()
        kinds[kind] = kinds.get(kind, 0) + 1
    return ", ".join(f"{count} x {kind}" for kind, count in sorted(kinds.items()))
