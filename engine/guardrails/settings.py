"""The settings of one guard, and the texts of its refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from engine.guardrails.contract import Verdict
from engine.values import units
from engine.values.errors import GatewayError

REQUEST, RESPONSE = "request", "response"
STAGES = (REQUEST, RESPONSE)
MODES = ("block", "redact", "report")


class GuardSettings(Struct, frozen=True):
    """A guard as the config has it.

    `webhook` is a URL, or the name of an upstream. `stages` are those that it judges, of STAGES.
    `mode` is what follows from a finding, of MODES. `timeout` is in seconds, for each question.
    `passes_unjudged`: what cannot be judged passes. `window` is the number of characters of a
    stream that are judged together, `overlap` how many of them are judged again with the next
    ones, and `chunk` the most of one question.
    """

    webhook: str
    stages: frozenset[str]
    mode: str
    timeout: float
    passes_unjudged: bool
    window: int
    overlap: int
    chunk: int

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> GuardSettings:
        """The settings of options that match the schema, with its defaults. Raises ValueError."""
        window, overlap = options.get("window", 400), options.get("overlap", 60)
        if overlap >= window:
            raise ValueError(f"'overlap' {overlap} is not below 'window' {window}")
        stages = options.get("on", STAGES)
        return cls(
            webhook=options["webhook"],
            stages=frozenset([stages] if isinstance(stages, str) else stages),
            mode=options.get("mode", "block"),
            timeout=units.seconds(options.get("timeout", "2s")),
            passes_unjudged=options.get("on_failure", "block") == "pass",
            window=window,
            overlap=overlap,
            chunk=options.get("chunk", 20_000),
        )

    @property
    def reports(self) -> bool:
        """Whether it only reports, so that nothing waits for it."""
        return self.mode == "report"

    @property
    def text(self) -> str:
        """The settings in a line, without what may be secret."""
        stages = " and ".join(stage for stage in STAGES if stage in self.stages)
        unjudged_texts = "pass" if self.passes_unjudged else "are refused"
        return f"{self.mode} by '{self.name}' on {stages}; texts without a verdict {unjudged_texts}"

    @property
    def name(self) -> str:
        """The webhook in logs and metrics: the host of a URL, which may have secrets elsewhere."""
        if "://" not in self.webhook:
            return self.webhook
        return self.webhook.partition("://")[2].partition("/")[0].rpartition("@")[2]


def block_error(stage: str, verdict: Verdict) -> GatewayError:
    """403: a guard does not let a request or an answer pass."""
    subject = "request" if stage == REQUEST else "answer"
    message = verdict.message or f"A content check of this gateway has blocked the {subject}."
    return GatewayError(403, "content_blocked", message, retry=False)


def unjudged_error(stage: str) -> GatewayError:
    """503: a guard could not judge a request or an answer, which must not pass without."""
    subject = "request" if stage == REQUEST else "answer"
    return GatewayError(
        503,
        "guard_unavailable",
        f"The {subject} could not be checked, and so it is not passed on. Try again in a moment.",
        headers=[("retry-after", "5")],
    )
