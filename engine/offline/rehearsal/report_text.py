"""A report as text for people: a heading for each thing that is decided, in the order it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from engine.source.excerpt import printable

Said = dict[str, Any]
_WIDTH = 16


def text(said: Said) -> str:
    """The report of `report.report`, as lines."""
    return "\n".join(map(printable, _lines(said)))


def _lines(said: Said) -> Iterator[str]:
    request = said["request"]
    outcome = "served" if said["served"] else "refused"
    yield f"{request['method']} {request['path']}: {outcome} ({said['status']})"
    if "operation" not in said:
        yield from _unserved(said)
        return
    operation, route = said["operation"], said["route"]
    shown = f"{operation['id']} ({operation['method']} {operation['path']})"
    yield _line("operation", shown, operation["place"])
    yield _line("route", route["goes"], route["place"])
    yield from _authentication(said["authentication"])
    for policy in said["policies"]:
        says = f": {policy['says']}" if policy["says"] else ""
        yield _line("policy", f"{policy['policy']} {policy['verdict']}{says}")
    yield from _validation(said["validation"])
    yield from _model(said["model"])
    yield from _targets(said["targets"], said["patience"])
    for sent in said["outgoing"]:
        yield from _outgoing(sent)
    for line in said["log"]:
        yield _line("log", line)
    for warning in said["warnings"]:
        yield _line("warning", warning)
    if said["error"]:
        yield from _error(said["error"])


def _line(head: str, words: str, place: str = "") -> str:
    return f"  {head:<{_WIDTH}}{words}{f'  [{place}]' if place else ''}"


def _error(error: Said) -> Iterator[str]:
    place = f" at {error['param']}" if error["param"] else ""
    yield _line("refused by", f"{error['by']}: {error['code']}{place}")
    yield _line("", error["message"])


def _unserved(said: Said) -> Iterator[str]:
    yield from _error(said["error"])
    if not said["nearest"]:
        yield _line("nearest", "nothing comes near")
    for near in said["nearest"]:
        shown = f"{near['method']} {near['path']} ({near['operation']}): {near['why']}"
        yield _line("nearest", shown, near["place"])


def _authentication(said: Said) -> Iterator[str]:
    looked = ", ".join(
        f"{carrier['kind']} {carrier['name']}{' (holds one)' if carrier['held'] else ''}"
        for carrier in said["carriers"]
    )
    if said["verdict"] == "public":
        yield _line("authentication", "none: the route is public (auth: none)")
        return
    who = f"passed: token '{said['token']}'" if said["token"] else said["verdict"]
    if said["token"] and said["verdict"] == "refused":
        who = f"refused: token '{said['token']}'"
    yield _line("authentication", f"{who}; looked at {looked}")


def _validation(said: Said) -> Iterator[str]:
    words = f"{said['verdict']} ({said['mode']})"
    if said["verdict"] == "would refuse":
        words += f" at {', '.join(said['places'])}"
    if said["verdict"] == "refused":
        place = said["place"] or "the request"
        words += f": {said['code']} at {place}"
    yield _line("validation", words)


def _model(said: Said | None) -> Iterator[str]:
    if said is None:
        return
    if said["asked"] is None:
        yield _line("model", f"not chosen (named in {said['from']})")
        return
    why = {
        "exact": "by its name",
        "wildcard": f"by the wildcard '{said.get('entry')}'",
        "default": "the route's default: the request names none",
    }[said["why"]]
    yield _line("model", f"{said['asked']}, {why}; from {said['from']}", said["place"])


def _targets(targets: list[Said], patience: Said) -> Iterator[str]:
    own = [target for target in targets if not target.get("fallback")]
    total = sum(target["weight"] for target in own)
    for number, target in enumerate(targets, 1):
        model = f" as {target['model']}" if target["model"] else ""
        share = f", weight {target['weight']:g} of {total:g}" if len(own) > 1 else ""
        if target.get("fallback"):
            share = f", fallback {target['fallback']}"
        yield _line(f"target {number}", f"{target['upstream']}{model}{share}")
    for name, said in patience.items():
        times = ", ".join(f"{key} {value:g}s" for key, value in said["timeouts"].items())
        yield _line("patience", f"{name}: {times}")
        retries = ", ".join(said["retries"]) or "nothing"
        breaker = said["breaker"]
        words = f"at most {said['attempts']} tries, again on {retries}; "
        words += f"left alone {breaker['cooldown']:g}s after {breaker['failures']} failures"
        yield _line("", words)


def _outgoing(sent: Said) -> Iterator[str]:
    yield _line("sends", f"{sent['method']} {sent['url']}")
    for name, value in sent["headers"]:
        yield _line("", f"{name}: {value}")
    body = sent["body"]
    if body["unchanged"]:
        yield _line("body", f"{body['bytes']} bytes, unchanged" if body["bytes"] else "none")
    else:
        yield _line("body", f"{body['bytes']} bytes, changed")
    for change in body["changes"]:
        if "before" in change:
            yield _line("", f"- {change['place']}: {json.dumps(change['before'])}")
        if "after" in change:
            yield _line("", f"+ {change['place']}: {json.dumps(change['after'])}")
    if sent["answered"] != 200:
        yield _line("it answers", str(sent["answered"]))
