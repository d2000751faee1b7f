"""The rules of oasdiff and the verdicts of `modelway diff` about the same changes, as a page.

`python -m tests.support.oasdiff` runs every row of tests/cases/oasdiff/rows.yaml and writes the
table of docs/reference/diff.md.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from engine.offline.diff.difference import differences_between
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import PlanResult
from tests.support import paths, yaml_text

CASES = paths.CASES / "oasdiff"
PAGE = paths.ROOT / "docs" / "reference" / "diff.md"
RULES = dict(line.split() for line in (CASES / "rules.txt").read_text().splitlines())
"""The level of each rule of oasdiff (`checker/rules.go` of 2026-08-08)."""
CONFIG = """version: 1
specs: {all: {document: all.yaml}}
upstreams: {main: {url: "https://main.test"}}
routes: [{operations: "all.*", to: [{upstream: main}]}]
"""
SCHEMES = {
    "key": {"type": "apiKey", "in": "header", "name": "x-key"},
    "other": {"type": "apiKey", "in": "header", "name": "x-other"},
    "login": {"type": "oauth2", "flows": {}},
}
HEAD_START = "<!-- table -->\n"


class Row(NamedTuple):
    """One rule with one change, of which `because` says why the two judge it otherwise."""

    rule: str
    old: Any
    new: Any
    because: str = ""


def rows() -> list[tuple[str, list[Row]]]:
    """The rows of the table, each with its rules."""
    listed = yaml_text.load((CASES / "rows.yaml").read_text())
    return [(each["rules"], [*_rows(each)]) for each in listed]


def expanded(rules: str) -> list[str]:
    """`a-{b,c}` as `a-b` and `a-c`."""
    parts = [part.split(",") for part in re.split(r"[{}]", rules)]
    return ["".join(each) for each in product(*parts)]


def _rows(each: dict[str, Any]) -> Iterator[Row]:
    for rule in expanded(each["rules"]):
        sides = [each["old"], each["new"]]
        if "operation" not in each:
            union = "oneOf" if "one-of" in rule else "anyOf"
            sides = [_placed(rule, _with_union(side, union)) for side in sides]
        yield Row(rule, *sides, each.get("because", ""))


def _with_union(schema: Any, union: str) -> Any:
    return {union if key == "UNION" else key: value for key, value in schema.items()}


def _placed(rule: str, schema: Any) -> dict[str, Any]:
    """An operation with a schema at the place that the name of a rule says."""
    content = {"application/json": {"schema": schema}}
    if rule.startswith("response-header"):
        return {"responses": {"200": {"headers": {"X": {"schema": schema}}}}}
    if rule.startswith("request-parameter-property"):
        schema = {"type": "object", "properties": {"p": schema}}
        return {"parameters": [{"name": "a", "in": "query", "schema": schema}]}
    if rule.startswith(("request-parameter", "request-header")):
        place = "header" if "header" in rule else "query"
        return {"parameters": [{"name": "a", "in": place, "schema": schema}]}
    if rule.startswith("request-body"):
        return {"requestBody": {"content": content}}
    if rule.startswith("response-body"):
        return {"responses": {"200": {"content": content}}}
    content["application/json"] = {"schema": {"type": "object", "properties": {"p": schema}}}
    is_request = rule.startswith(("request-", "new-"))
    place = "requestBody" if is_request else "responses"
    return {place: {"content": content} if is_request else {"200": {"content": content}}}


def verdicts() -> dict[str, list[str]]:
    """The level and kind of each difference, by the rule whose change is compared: all changes at
    once, each in an operation of its own."""
    every = [row for _, row_rules in rows() for row in row_rules]
    with tempfile.TemporaryDirectory() as folder:
        old, new = (
            _planned(Path(folder) / side, {row.rule: getattr(row, side) for row in every})
            for side in ("old", "new")
        )
        found: dict[str, set[str]] = {row.rule: set() for row in every}
        for difference in differences_between(old, new):
            for subject in difference.subjects:
                rule = subject.removeprefix("all.").partition(" ")[0]
                found[rule].add(f"{difference.level} `{difference.kind}`")
    return {rule: sorted(kinds) for rule, kinds in found.items()}


def _planned(folder: Path, operations: dict[str, Any]) -> PlanResult:
    items = {}
    for rule, operation in operations.items():
        if operation is not None:
            item = deepcopy(operation)
            item["operationId"] = f"{rule} {item.pop('operationId', '')}".strip()
            responses = item.setdefault("responses", {})
            responses.setdefault("200", {}).setdefault("content", {"application/json": {}})
            for response in responses.values():
                response.setdefault("description", "ok")
            items[f"/{rule}"] = {"post": item}
    document = {"openapi": "3.1.0", "info": {"title": "All", "version": "1"}, "paths": items}
    document["components"] = {"securitySchemes": SCHEMES}
    folder.mkdir()
    (folder / "all.yaml").write_text(yaml_text.dump(document))
    (folder / "gateway.yaml").write_text(CONFIG)
    planned = make_plan(folder / "gateway.yaml", {})
    assert planned.plan is not None, [str(error) for error in planned.findings.errors]
    return planned


def agrees(rule: str, kinds: list[str]) -> bool:
    """Whether both call a change breaking, or both do not."""
    return (RULES[rule] in ("ERR", "WARN")) == any(kind.startswith("breaking") for kind in kinds)


def table() -> str:
    """The table of the page."""
    found = verdicts()
    lines = ["| oasdiff | level | `modelway diff` | |", "|---|---|---|---|"]
    for rules, row_rules in rows():
        levels = "/".join(dict.fromkeys(RULES[row.rule] for row in row_rules))
        kinds = sorted({kind for row in row_rules for kind in found[row.rule]})
        because = row_rules[0].because
        verdict = f"differs: {because}" if because else "agrees"
        lines.append(f"| `{rules}` | {levels} | {', '.join(kinds) or 'none'} | {verdict} |")
    return "\n".join(lines) + "\n"


def not_judged() -> dict[str, str]:
    """The rules that are not judged, each with the reason."""
    listed = yaml_text.load((CASES / "not_judged.yaml").read_text())
    patterns = [(each["rules"].strip("*"), each["because"]) for each in listed]
    judged = {row.rule for _, row_rules in rows() for row in row_rules}
    return {
        rule: because
        for rule in RULES
        if rule not in judged
        for pattern, because in patterns
        if re.search(pattern, rule)
    }


if __name__ == "__main__":
    head = PAGE.read_text("utf-8").partition(HEAD_START)[0]
    PAGE.write_text(f"{head}{HEAD_START}{table()}", "utf-8")
