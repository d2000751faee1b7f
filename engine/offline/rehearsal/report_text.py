"""A report as text: a heading for each decision, in the order of the request."""

from __future__ import annotations

import json
from collections.abc import Iterator

from engine.offline.rehearsal.target_report import addresses_text
from engine.policies.interface import Moment
from engine.source.excerpt import printable
from engine.values.trees import Json
from engine.values.units import format_count

Report = Json
_WIDTH = 16
_MAX_LINE = 160
"""The most characters of a line of a body in a brief text; an image is one long line."""


def text(report: Report, *, brief: bool = False) -> str:
    """The report of `report.report` as text; if `brief`, with the beginnings of long lines of
    bodies."""
    return "\n".join(map(printable, _lines(report, brief)))


def _lines(report: Report, brief: bool) -> Iterator[str]:
    request = report["request"]
    outcome = "served" if report["served"] else "refused"
    yield f"{request['method']} {request['path']}: {outcome} ({report['status']})"
    if "operation" not in report:
        yield from _unserved(report)
        return
    route = report["route"]
    yield _operation(report["operation"])
    hosts = f" at {', '.join(route['hosts'])}" if route["hosts"] else ""
    yield _line("route", f"{route['destination']}{hosts}", route["place"])
    yield from _authentication(report["authentication"])
    yield from _policies(report, Moment.HEAD)
    has_model = report["model"] is not None and report["model"]["name"] is not None
    unread = report["validation"]["verdict"] == "refused" and not has_model
    if unread:
        yield from _validation(report["validation"])
    yield from _model(report["model"])
    yield from _policies(report, Moment.MODEL)
    if not unread:
        yield from _validation(report["validation"])
    yield from _policies(report, Moment.WRITTEN)
    yield from _transforms(report, "caller")
    yield from _price(report["price"])
    yield from _policies(report, Moment.LIMIT)
    yield from _region(report["region"])
    yield from _targets(report["targets"], report["timeouts"], route["priority"])
    if route["hedge"]:
        yield _line("hedge", f"sent to a second target too after {route['hedge']} without content")
    yield from _transforms(report, "upstream")
    for upstream_request in report["upstream_requests"]:
        yield from _upstream_request(upstream_request, brief)
    if report["estimate"]:
        words = f"the gateway's estimate of {report['estimate']}: no target counts them"
        yield _line("answer", words)
    yield from (_line("log", line) for line in report["log"])
    yield from (_line("warning", warning) for warning in report["warnings"])
    if report["error"]:
        yield from _error(report["error"])


def _line(head: str, words: str, place: str = "") -> str:
    return f"  {head:<{_WIDTH}}{words}{f'  [{place}]' if place else ''}"


def _operation(operation: Report) -> str:
    words = f"{operation['id']} ({operation['method']} {operation['path']})"
    if others := operation.get("alternatives"):
        words += f", one of {len(others) + 1}: also {', '.join(others)}"
    return _line("operation", words, operation["place"])


def _error(error: Report) -> Iterator[str]:
    place = f" at {error['param']}" if error["param"] else ""
    yield _line("refused by", f"{error['by']}: {error['code']}{place}")
    yield _line("", error["message"])


def _unserved(report: Report) -> Iterator[str]:
    yield from _error(report["error"])
    if not report["nearest"]:
        yield _line("nearest", "no similar operation")
    for near in report["nearest"]:
        shown_operation = f"{near['method']} {near['path']} ({near['operation']}): {near['reason']}"
        yield _line("nearest", shown_operation, near["place"])


def _authentication(report: Report) -> Iterator[str]:
    checked = ", ".join(
        f"{carrier['kind']} {carrier['name']}{' (present)' if carrier['present'] else ''}"
        for carrier in report["carriers"]
    )
    if report["verdict"] == "public":
        yield _line("authentication", "none: the route is public (auth: none)")
        return
    verdict = f"passed: token '{report['token']}'" if report["token"] else report["verdict"]
    if report["token"] and report["verdict"] == "refused":
        verdict = f"refused: token '{report['token']}'"
    yield _line("authentication", f"{verdict}; checked {checked}")


def _policies(report: Report, moment: Moment) -> Iterator[str]:
    """The policies that run at a moment, each transform with its edits."""
    for policy in report["policies"]:
        if policy["moment"] == moment:
            reason = f": {policy['reason']}" if policy["reason"] else ""
            yield _line("policy", f"{policy['policy']} {policy['verdict']}{reason}")
            if policy["policy"] == "transform":
                yield from _transforms(report, "caller", policy["place"])


def _transforms(report: Report, side: str, policy: str = "") -> Iterator[str]:
    """The edits on a side, of the policy at a place or of none."""
    for edit in report["transforms"]:
        if (edit["side"], edit["policy"]) == (side, policy):
            yield _line("transform", edit["edit"], edit["place"])


def _validation(report: Report) -> Iterator[str]:
    words = f"{report['verdict']} ({report['mode']})"
    if report["verdict"] == "would refuse":
        words += f" at {', '.join(report['places'])}"
    if report["verdict"] == "refused":
        place = report["place"] or "the request"
        words += f": {report['code']} at {place}"
    yield _line("validation", words)


def _model(report: Report | None) -> Iterator[str]:
    if report is None:
        return
    if report["name"] is None:
        yield _line("model", f"not chosen (named in {report['from']})")
        return
    reason = {
        "exact": "by its name",
        "wildcard": f"by the wildcard '{report.get('entry')}'",
        "default": "the route's default: the request names none",
    }[report["reason"]]
    yield _line("model", f"{report['name']}, {reason}; from {report['from']}", report["place"])
    if mirror := report.get("mirror"):
        words = (
            f"{mirror['percent']:g}% of its requests are copied to {', '.join(mirror['upstreams'])}"
        )
        yield _line("mirror", words, mirror["place"])
    if rule := report.get("rule"):
        yield _line("rule", f"{rule['number']} of `when`: the first that holds", rule["place"])


def _price(report: Report | None) -> Iterator[str]:
    """The price of a million tokens in and out, if it is one of the caller's team."""
    if report is None or not report["team"]:
        return
    amounts = f"{report['input']:g} / {report['output']:g} {report['currency']} per million tokens"
    vendor = report["vendor"]
    beside = f"; the vendor's is {vendor['input']:g} / {vendor['output']:g}" if vendor else ""
    yield _line(
        "price", f"{amounts} in / out, of team '{report['team']}' ({report['source']}){beside}"
    )


def _region(report: Report | None) -> Iterator[str]:
    if report is None:
        return
    left_out = [
        f"{name} ({', '.join(regions) or 'no regions'})"
        for name, regions in report["left_out"].items()
    ]
    yield _line("region", f"{report['required']}; left out: {', '.join(left_out) or 'no target'}")


def _targets(targets: list[Report], timeouts: Report, priority: str) -> Iterator[str]:
    primary = [target for target in targets if not target.get("fallback")]
    total = sum(target["weight"] for target in primary)
    for number, target in enumerate(targets, 1):
        model = f" as {target['model']}" if target["model"] else ""
        share = f", weight {target['weight']:g} of {total:g}" if len(primary) > 1 else ""
        if target.get("fallback"):
            share = f", fallback {target['fallback']}"
        if target["max_in_flight"]:
            share += f", at most {target['max_in_flight']} at one time"
        if target["choose"] != "weighted":
            share += f", chosen by {target['choose']}"
        yield _line(f"target {number}", f"{target['upstream']}{model}{share}")
        yield from _translation(target.get("translation"))
    for name, report in timeouts.items():
        times = ", ".join(f"{key} {value:g}s" for key, value in report["timeouts"].items())
        yield _line("timeouts", f"{name}: {times}")
        retries = ", ".join(report["retries"]) or "nothing"
        breaker = report["breaker"]
        attempts = report["attempts"]
        words = f"at most {format_count(attempts, 'attempt')}, retried on {retries}; "
        failures = format_count(breaker["failures"], "failure")
        words += f"no requests for {breaker['cooldown']:g}s after {failures}"
        yield _line("", words)
        if report["max_in_flight"]:
            bound = format_count(report["max_in_flight"], "request")
            yield _line("", f"at most {bound} at one time")
        if report["queue"]:
            size, wait = report["queue"]["size"], report["queue"]["wait"]
            yield _line("", f"up to {size} wait for a slot, {wait:g}s each; {priority} priority")
        if health := report["health"]:
            yield _line("health", f"{name}: GET {health['path']} every {health['every']:g}s")
        if report["addresses"] is not None:
            source = addresses_text(report["addresses"])
            yield _line("", f"each address is a target: {source}")


def _translation(translation: Report | None) -> Iterator[str]:
    """The translation of the request for a target, if there is one."""
    if translation is None:
        return
    words = f"translated from {translation['from']} into {translation['into']}"
    if translation["dropped"]:
        words += f"; drops {', '.join(translation['dropped'])}"
    refusal = translation["refusal"]
    if refusal:
        place = f" at {refusal['param']}" if refusal["param"] else ""
        words = f"cannot be translated into {translation['into']}: {refusal['code']}{place}"
    yield _line("", words)


def _upstream_request(request: Report, brief: bool) -> Iterator[str]:
    yield _line("sends", f"{request['method']} {request['url']}")
    for name, value in request["headers"]:
        yield _line("", f"{name}: {value}")
    body = request["body"]
    size = format_count(body["bytes"], "byte")
    if "content" in body:
        yield _line("body", f"{size}, translated")
        for line in json.dumps(body["content"], indent=2, ensure_ascii=False).splitlines():
            yield _line("", _shortened(line) if brief else line)
    elif body["unchanged"]:
        yield _line("body", f"{size}, unchanged" if body["bytes"] else "none")
    else:
        yield _line("body", f"{size}, changed")
    for change in body["changes"]:
        if "before" in change:
            yield _line("", f"- {change['place']}: {json.dumps(change['before'])}")
        if "after" in change:
            yield _line("", f"+ {change['place']}: {json.dumps(change['after'])}")
    if request["answer"] != 200:
        yield _line("upstream answer", str(request["answer"]))


def _shortened(line: str) -> str:
    return line if len(line) <= _MAX_LINE else f"{line[:_MAX_LINE]}... ({len(line)} characters)"
