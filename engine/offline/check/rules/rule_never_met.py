"""A rule under `when` of a model that no request reaches: a rule before it takes them, or no caller
has what it asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.config.models import RuleConfig
from engine.offline.check.audit import AuditCase
from engine.offline.diff.deny_conditions import hold_with
from engine.upstream.conditions.compile import compile_conditions, texts_of
from engine.values.trees import Json
from engine.values.wildcard import matches

_NAMES = ("caller", "team", "has")


def check(case: AuditCase) -> None:
    for model in case.config.models.values():
        for index, rule in enumerate(model.when):
            _check_shadow(case, model.when[:index], rule)
            for at, message, hint in _unmet(case, rule):
                case.warn((*rule.at, "if", *at), "MW541", message, hint, key=True)


def _check_shadow(case: AuditCase, earlier: Sequence[RuleConfig], rule: RuleConfig) -> None:
    for number, other in enumerate(earlier, 1):
        if _implies(rule.conditions, other.conditions):
            message = f"no request reaches this rule: rule {number} takes all that it would"
            hint = "write it before that one, or remove it; the first that holds decides"
            case.warn((*rule.at, "if"), "MW542", message, hint, key=True)
            return


def _implies(narrow: Json, wide: Json) -> bool:
    """Whether every request that meets the conditions `narrow` certainly meets those of `wide`."""
    if not wide.keys() <= narrow.keys():
        return False
    values = (compile_conditions(each).values for each in (wide, narrow))
    by_place = (
        {(condition.location, condition.name): condition for condition in each} for each in values
    )
    return hold_with(*by_place) and all(
        _is_within(kind, narrow[kind], wide[kind]) for kind in wide if kind in _OTHERS
    )


def _is_within(kind: str, narrow: Json, wide: Json) -> bool:
    """Whether a condition that is not on a value of the request implies another of its kind."""
    if kind in _NAMES:
        return _are_matched(narrow, wide)
    if kind == "claim":
        return all(at in narrow and _are_matched(narrow[at], wide[at]) for at in wide)
    if kind == "tokens":
        return narrow.get("minimum", 0) >= wide.get("minimum", 0) and (
            "maximum" not in wide or narrow.get("maximum", float("inf")) <= wide["maximum"]
        )
    return narrow == wide


_OTHERS = frozenset({*_NAMES, "claim", "tokens", "time"})


def _are_matched(narrow: str | list[str] | Json, wide: str | list[str] | Json) -> bool:
    """Whether each of the texts is matched by one of the others, wildcards included."""
    assert not isinstance(narrow, dict)
    assert not isinstance(wide, dict)
    return all(any(matches(text, other) for other in texts_of(wide)) for text in texts_of(narrow))


def _unmet(case: AuditCase, rule: RuleConfig) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """The conditions on callers that no caller of the file can meet: place, message and hint. A
    database may have any tokens, and an issuer any names."""
    config, conditions = case.config, rule.conditions
    is_open = config.stores.records is not None or bool(config.jwt)
    if "claim" in conditions and not config.jwt:
        yield ("claim",), "no caller has claims: `callers.jwt` names no issuer", "remove this rule"
    if is_open:
        return
    callers = [caller for caller, _ in config.callers()]
    names = [caller.name for caller in callers]
    teams = [name for c in callers if c.team for name in (c.team, *(t.name for t in c.teams))]
    for kind, existing in (("caller", names), ("team", teams)):
        patterns = texts_of(conditions.get(kind, []))
        lost = [
            pattern for pattern in patterns if not any(matches(name, pattern) for name in existing)
        ]
        if lost:
            holder = "token has the name" if kind == "caller" else "token is of the team"
            yield (kind,), f"no {holder} '{lost[0]}'", "correct or remove it"
