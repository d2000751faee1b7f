"""A price that no model has: it is misspelt, or its model was renamed."""

from __future__ import annotations

from collections.abc import Iterator

from engine.config.joined_document import earlier_name
from engine.config.models import STAR
from engine.offline.audit import AuditCase
from engine.source.suggestion import did_you_mean
from engine.values.wildcard import matches


def check(case: AuditCase) -> None:
    models = [*case.config.models]
    targets = list(dict.fromkeys(_targets(case)))
    for name in case.config.prices:
        if not any(_priced(name, other) for other in (*models, *targets)):
            hint = earlier_name(case.config.source, "prices", name) or did_you_mean(
                name, [*models, *targets], "write the name of a model, or upstream/model"
            )
            message = f"'{name}' is no model of the config: the price is never used"
            case.warn(("prices", name), "MW471", message, hint, key=True)


def _priced(name: str, model: str) -> bool:
    """Whether a price may apply to a name or wildcard."""
    return matches(model, name) or matches(name, model)


def _targets(case: AuditCase) -> Iterator[str]:
    """The names of all targets, as `prices` has them."""
    for model in case.config.models.values():
        for target in model.targets:
            own_name = model.name if target.model in ("", STAR) else target.model
            yield f"{target.upstream}/{own_name if target.model != STAR else STAR}"
