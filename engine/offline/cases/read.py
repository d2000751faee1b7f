"""Reading cases: `tests:` of a config, and of `*.test.yaml` beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import orjson

from engine.config import json_schema, schema_check
from engine.config.model import Config
from engine.offline.cases.case import Case
from engine.offline.rehearsal import observation
from engine.offline.rehearsal.observation import Answers
from engine.plan.route import Plan, PlanResult
from engine.source.problem import Findings, Path, Source, place_of
from engine.source.reader import read_file
from engine.source.suggestion import did_you_mean

PATTERN = "*.test.yaml"


def beside(config: FilePath) -> list[FilePath]:
    """The files of cases that stand beside a config."""
    return sorted(config.absolute().parent.glob(PATTERN))


def of_config(planned: PlanResult, file: FilePath, findings: Findings) -> list[Case]:
    """The cases of `tests:` in the config itself, whose shape the plan has checked."""
    assert planned.plan is not None
    source = planned.plan.config.source
    value = getattr(source, "value", None)
    listed = value.get("tests") if isinstance(value, dict) else None
    return _Reader(source, file.absolute().parent, planned, findings).cases(listed or [])


def of_file(file: FilePath, shown: str, planned: PlanResult, findings: Findings) -> list[Case]:
    """The cases of a file; what is wrong with it goes to the findings."""
    marked = read_file(file, shown)
    findings.take(marked)
    if marked.problems:
        return []
    if schema_check.check(marked.value, _validator(), marked, (), findings):
        return []
    reader = _Reader(marked, file.absolute().parent, planned, findings)
    return reader.cases(marked.value["tests"])


@cache
def _validator() -> schema_check.Validator:
    """A file of cases: the section `tests` of gateway.yaml, alone."""
    whole = json_schema.schema()
    return schema_check.validator(
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["tests"],
            "properties": {"tests": whole["properties"]["tests"]},
            "$defs": whole["$defs"],
        }
    )


class _Reader:
    def __init__(
        self, source: Source, folder: FilePath, planned: PlanResult, findings: Findings
    ) -> None:
        assert planned.plan is not None
        self.source = source
        self.folder = folder
        self.plan: Plan = planned.plan
        self.findings = findings
        self.operations = {
            operation.id
            for specification in planned.specifications.values()
            for operation in specification.operations.values()
        }

    @property
    def config(self) -> Config:
        return self.plan.config

    def cases(self, listed: list[Any]) -> list[Case]:
        """Those that can be played; the names of all of them are checked."""
        made = []
        seen: dict[str, Path] = {}
        for index, said in enumerate(listed):
            at: Path = ("tests", index)
            first = seen.setdefault(said["name"], at)
            if first is not at:
                hint = f"the first is at {place_of(self.source, first)}"
                self._error((*at, "name"), "MW107", f"two tests named '{said['name']}'", hint)
            before = len(self.findings.found)
            case = self._case(said, at)
            if len(self.findings.found) == before:
                made.append(case)
        return made

    def _case(self, said: dict[str, Any], at: Path) -> Case:
        request = said["request"]
        self._known(said, at)
        callers = {caller.name: caller for caller in self.config.tokens.values()}
        name = request.get("token")
        if name is not None and name not in callers:
            hint = did_you_mean(name, callers, "put one under tokens:")
            self._error((*at, "request", "token"), "MW331", f"unknown token '{name}'", hint)
        headers = [(name, str(value)) for name, value in request.get("headers", {}).items()]
        return Case(
            name=said["name"],
            request=observation.request(
                request["method"],
                request["path"],
                headers,
                self._body(request, (*at, "request")),
                request.get("from", "127.0.0.1"),
            ),
            caller=callers.get(name) if name is not None else None,
            answers=_answers(said.get("upstream_answers", 200)),
            expect=said["expect"],
            source=self.source,
            at=at,
        )

    def _body(self, request: Mapping[str, Any], at: Path) -> bytes:
        if "body" in request and "body_file" in request:
            message = "'body' and 'body_file' together"
            self._error((*at, "body_file"), "MW105", message, "keep one")
        if "body_file" in request:
            file: FilePath = self.folder / request["body_file"]
            try:
                return file.read_bytes()
            except FileNotFoundError:
                message = f"there is no file '{request['body_file']}'"
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) else "no file has such a name"
                message = f"'{request['body_file']}' cannot be read: {why}"
            self._error((*at, "body_file"), "MW106", message, "it starts at this file's folder")
            return b""
        if "body" not in request:
            return b""
        body = request["body"]
        text: bytes = body.encode() if isinstance(body, str) else orjson.dumps(body)
        return text

    def _known(self, said: dict[str, Any], at: Path) -> None:
        """Whether the names in a case exist."""
        expect, upstreams = said["expect"], self.config.upstreams
        for path, name in _upstreams_named(said):
            if name not in upstreams:
                hint = did_you_mean(name, upstreams)
                self._error((*at, *path), "MW313", f"unknown upstream '{name}'", hint)
        operation = expect.get("operation")
        if operation is not None and operation not in self.operations:
            hint = did_you_mean(operation, self.operations)
            message = f"unknown operation '{operation}'"
            self._error((*at, "expect", "operation"), "MW301", message, hint)

    def _error(self, at: Path, code: str, message: str, hint: str = "") -> None:
        self.findings.error(self.source, at, code, message, hint)


def _upstreams_named(said: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    answers, expect = said.get("upstream_answers"), said["expect"]
    if isinstance(answers, dict):
        for name in answers:
            yield ("upstream_answers", name), name
    if isinstance(expect.get("upstream"), str):
        yield ("expect", "upstream"), expect["upstream"]
    for index, name in enumerate(expect.get("upstreams", ())):
        yield ("expect", "upstreams", index), name


def _answers(said: int | str | dict[str, int | str]) -> Answers:
    return Answers(each=said) if isinstance(said, dict) else Answers(said)
