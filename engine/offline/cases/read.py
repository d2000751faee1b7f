"""Reads cases: `tests:` of a config, and of the `*.test.yaml` files in its folder."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import orjson
from msgspec import Struct

from engine.callers.jwt.refusal import TokenRefused
from engine.config import json_schema, schema_check
from engine.config.config import Config
from engine.exchange.internal_request import HERE, Request
from engine.mcp.tool import Tool
from engine.offline.rehearsal import observation
from engine.offline.rehearsal.jwt_callers import caller_of_claims
from engine.offline.rehearsal.observation import UpstreamAnswers
from engine.offline.rehearsal.tool_calls import find_tool, refusal_of, request_of
from engine.plan.plan import Plan, PlanResult
from engine.plan.route import Route
from engine.source.problem import Findings, Path, Place, Source, place_of
from engine.source.reader import read_file
from engine.source.suggestion import did_you_mean
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from engine.values.trees import Json, Section
from engine.values.units import unix_time

PATTERN = "*.test.yaml"


class Case(Struct, frozen=True):
    """A case: a request, canned `answers` of upstreams, and the expectations by name in `expect`.
    `at` is the path of the case in its `source`. A call of a tool has a `refusal` if the tool
    refuses its arguments, before there is a request; its `route` is that of the tool. `warning` is
    what its reader should know, "" for nothing. It arrives at the time `arrival` in Unix seconds,
    None for now."""

    name: str
    request: Request
    caller: Caller | None
    answers: UpstreamAnswers
    expect: Section
    source: Source
    at: Path
    route: Route | None = None
    refusal: GatewayError | None = None
    warning: str = ""
    arrival: float | None = None

    def place(self, *steps: str) -> Place:
        """The place of an expectation, or of the case."""
        return place_of(self.source, (*self.at, "expect", *steps) if steps else self.at)


class Failure(Struct, frozen=True):
    """An expectation that is not met."""

    place: Place
    expectation: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.place}: {self.expectation}: expected {self.expected}, found {self.actual}"


def case_files(config: FilePath) -> list[FilePath]:
    """The files of cases in the folder of a config."""
    return sorted(config.absolute().parent.glob(PATTERN))


def of_config(plan_result: PlanResult, file: FilePath, findings: Findings) -> list[Case]:
    """The cases of `tests:` in the config, which the plan has validated."""
    assert plan_result.plan is not None
    source = plan_result.plan.config.source
    listed = source.value.get("tests")
    return _CaseReader(source, file.absolute().parent, plan_result, findings).cases(listed or [])


def of_file(
    file: FilePath, display_name: str, plan_result: PlanResult, findings: Findings
) -> list[Case]:
    """The cases of a file; its problems go to the findings."""
    marked = read_file(file, display_name)
    findings.add_source(marked)
    if marked.problems:
        return []
    if schema_check.check(marked.value, _validator(), marked, (), findings):
        return []
    reader = _CaseReader(marked, file.absolute().parent, plan_result, findings)
    return reader.cases(marked.value["tests"])


@cache
def _validator() -> schema_check.Validator:
    """The schema of a file of cases: the section `tests` of gateway.yaml, and nothing else."""
    config_schema = json_schema.schema()
    return schema_check.Validator(
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["tests"],
            "properties": {"tests": config_schema["properties"]["tests"]},
            "$defs": config_schema["$defs"],
        }
    )


class _CaseReader:
    def __init__(
        self, source: Source, folder: FilePath, plan_result: PlanResult, findings: Findings
    ) -> None:
        assert plan_result.plan is not None
        self.source = source
        self.folder = folder
        self.plan: Plan = plan_result.plan
        self.findings = findings
        self.operations = {
            operation.id
            for specification in plan_result.specifications.values()
            for operation in specification.operations.values()
        }

    @property
    def config(self) -> Config:
        return self.plan.config

    def cases(self, listed: list[Any]) -> list[Case]:
        """The cases without problems; the problems of the others are added to the findings."""
        cases = []
        first_by_name: dict[str, Path] = {}
        for index, entry in enumerate(listed):
            at: Path = ("tests", index)
            first = first_by_name.setdefault(entry["name"], at)
            if first is not at:
                hint = f"the first is at {place_of(self.source, first)}"
                self._error((*at, "name"), "MW107", f"two tests named '{entry['name']}'", hint)
            before = len(self.findings.unsorted)
            case = self._case(entry, at)
            if len(self.findings.unsorted) == before:
                cases.append(case)
        return cases

    def _case(self, entry: Json, at: Path) -> Case:
        request = entry["request"]
        self._check_names(entry, at)
        caller, warning = self._caller(request, (*at, "request"))
        outgoing, tool, refusal = self._request(request, (*at, "request"))
        return Case(
            name=entry["name"],
            request=outgoing,
            caller=caller,
            answers=_answers(entry.get("upstream_answers", 200)),
            expect=entry["expect"],
            source=self.source,
            at=at,
            route=tool.route if tool is not None else None,
            refusal=refusal,
            warning=warning,
            arrival=self._arrival(request, (*at, "request", "time")),
        )

    def _arrival(self, request: Section, at: Path) -> float | None:
        """When the request arrives, None for now."""
        if "time" not in request:
            return None
        try:
            return unix_time(request["time"], end_of_day=False)
        except ValueError:
            message = f"'{request['time']}' is not a time"
            self._error(at, "MW104", message, "write it as 2027-01-31T08:30+01:00")
            return None

    def _caller(self, request: Section, at: Path) -> tuple[Caller | None, str]:
        """The caller of a request, None for one without a token; and why its claims make none."""
        if "claims" in request:
            return self._bearer(request, at)
        callers = {caller.name: caller for caller in self.config.tokens.values()}
        name = request.get("token")
        if name is not None and name not in callers:
            hint = did_you_mean(name, callers, "put one under tokens:")
            self._error((*at, "token"), "MW331", f"unknown token '{name}'", hint)
        return callers.get(name or ""), ""

    def _bearer(self, request: Section, at: Path) -> tuple[Caller | None, str]:
        """The caller with these claims."""
        if "token" in request:
            message = "'token' and 'claims' together"
            self._error((*at, "claims"), "MW105", message, "keep one")
        try:
            return caller_of_claims(self.plan, request["claims"]), ""
        except TokenRefused as refusal:
            return None, f"no caller has these claims: {refusal}"

    def _request(
        self, request: Section, at: Path
    ) -> tuple[Request, Tool | None, GatewayError | None]:
        """The request; that of a tool with the tool, and the refusal of its arguments."""
        if "tool" in request:
            return self._tool_request(request, at)
        for key in ("method", "path"):
            if key not in request:
                hint = "a request has 'method' and 'path', or 'tool' and 'arguments'"
                self._error(at, "MW102", f"'{key}' is missing", hint)
        if "arguments" in request:
            message = "'arguments' are those of a tool"
            self._error((*at, "arguments"), "MW105", message, "add `tool: NAME`")
        headers = [(name, str(value)) for name, value in request.get("headers", {}).items()]
        method, path, address = (
            request.get("method", "GET"),
            request.get("path", "/"),
            request.get("from", HERE),
        )
        body = self._body(request, at)
        return observation.request(method, path, headers, body, address), None, None

    def _tool_request(
        self, request: Section, at: Path
    ) -> tuple[Request, Tool | None, GatewayError | None]:
        """The request of a call of a tool, or the refusal of the call."""
        for key in ("method", "path", "headers", "body", "body_file"):
            if key in request:
                message = f"'{key}' and 'tool' together"
                self._error((*at, key), "MW105", message, "the tool writes the request")
        placeholder = Request("GET", "/")
        try:
            tool = find_tool(self.plan, request["tool"])
        except ValueError as error:
            self._error((*at, "tool"), "MW335", str(error))
            return placeholder, None, None
        address = request.get("from", HERE)
        try:
            outgoing = request_of(self.plan, tool, request.get("arguments", {}), address)
        except ValueError as error:
            return placeholder, tool, refusal_of(error)
        return outgoing, tool, None

    def _body(self, request: Section, at: Path) -> bytes:
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
                reason = error.strerror if isinstance(error, OSError) else "no file has such a name"
                message = f"'{request['body_file']}' cannot be read: {reason}"
            self._error((*at, "body_file"), "MW106", message, "it starts at this file's folder")
            return b""
        if "body" not in request:
            return b""
        body = request["body"]
        text: bytes = body.encode() if isinstance(body, str) else orjson.dumps(body)
        return text

    def _check_names(self, entry: Json, at: Path) -> None:
        """Add an error for each unknown name in a case."""
        expect, upstreams = entry["expect"], self.config.upstreams
        for path, name in _upstreams_named(entry):
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


def _upstreams_named(entry: Json) -> Iterator[tuple[Path, str]]:
    answers, expect = entry.get("upstream_answers"), entry["expect"]
    if isinstance(answers, dict):
        for name in answers:
            yield ("upstream_answers", name), name
    if isinstance(expect.get("upstream"), str):
        yield ("expect", "upstream"), expect["upstream"]
    for index, name in enumerate(expect.get("upstreams", ())):
        yield ("expect", "upstreams", index), name


def _answers(entry: int | str | dict[str, int | str]) -> UpstreamAnswers:
    return UpstreamAnswers(each=entry) if isinstance(entry, dict) else UpstreamAnswers(entry)
