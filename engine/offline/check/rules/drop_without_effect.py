"""A `drop` that changes nothing: without translations nothing is dropped, and `lossy` drops all."""

from __future__ import annotations

from engine.offline.check.audit import AuditCase

_REASONS = {
    "off": "nothing is translated",
    "lossy": "everything that cannot be carried is left out",
}


def check(case: AuditCase) -> None:
    for model in case.config.models.values():
        reason = _REASONS.get(model.translate)
        if model.drop and reason:
            message = f"`drop` has no effect with `translate: {model.translate}`: {reason}"
            hint = "remove `drop`, or write `translate: strict`"
            case.warn((*model.at, "drop"), "MW426", message, hint, key=True)
