"""`python -m tests.documents.tools`: the tools of companies' documents, a row for each document.

For each operation that a value can be generated for: the request that its tool writes of a valid
call is byte for byte the one that this module writes of the same values, without code of the
engine; its listed schema accepts the call; and a call with a mistake is refused with its place.
Exit status 1 if one does not. Names are files; without them it tries the corpus of `packages.py`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema_rs
import orjson

from engine.mcp.listed_tool import InvalidArguments, list_entry
from engine.mcp.tool import Tool, tools_and_refusals
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import Plan
from tests.documents.document import Document, NotJudged, Operation, Part
from tests.documents.packages import corpus
from tests.documents.parameters import (
    brackets,
    header_text,
    is_deep,
    path_text,
    query_texts,
)
from tests.documents.values import near_misses, values

MOUNT = "/mounted"
CONFIG = """\
version: 1
console: {{enabled: false}}
specs: {{x: {{document: "{file}", mount: [{mount}]}}}}
upstreams: {{u: {{url: "http://127.0.0.1:9"}}}}
routes: [{{operations: "x.*", auth: none, to: [{{upstream: u}}]}}]
mcp: {{x: {{path: /mcp, operations: ["x.*"], output_schemas: true}}}}
"""
_MAX_BODIES, _MAX_MISSES, _MAX_SHOWN = 3, 12, 3
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
Values = Mapping[tuple[str, str], tuple[Part, Any]]
"""The values of parameters by location and name, with their declarations."""


@dataclass
class Result:
    """What became of the tools of a document. `failures` are by kind, each with its tool; `valid`
    and `invalid` count calls."""

    operations: int = 0
    tools: int = 0
    called: int = 0
    valid: int = 0
    invalid: int = 0
    looser: int = 0
    failures: dict[str, list[str]] = field(default_factory=dict)
    not_judged: Counter[str] = field(default_factory=Counter)

    def fail(self, kind: str, words: str) -> None:
        self.failures.setdefault(kind, []).append(words)


def plan_of(file: Path, folder: Path) -> Plan:
    """The plan of a gateway that has every operation of a document as a tool."""
    config = CONFIG.format(file=file, mount=MOUNT)
    result = make_plan(folder / "gateway.yaml", {}, config)
    assert result.plan is not None, [str(problem) for problem in result.findings.errors]
    return result.plan


def tool_trial(file: Path, most: int = 10**6) -> Result:
    """Call the tools of a document, at most so many, evenly chosen."""
    result = Result()
    with tempfile.TemporaryDirectory() as name:
        plan = plan_of(file, Path(name))
    tools, refusals = tools_and_refusals(plan, plan.config.mcp["x"])
    result.tools = len(tools)
    for operation, reason in refusals.items():
        result.fail("no tool", f"{operation}: {reason}")
    document = Document(file)
    operations = {(method.upper(), path): each for each in document.operations()
                  for path, method in [each[:2]]}  # fmt: skip
    result.operations = len(operations)
    for tool in tools[:: max(len(tools) // most, 1)]:
        _, path, method = map(str, tool.route.operation.at[:3])
        operation = operations.get((method.upper(), path))
        if operation is None:
            continue
        try:
            _call(tool, operation, plan, result)
        except NotJudged as error:
            result.not_judged[str(error)[:60]] += 1
        except RecursionError:
            result.not_judged["nested too deeply for the judge"] += 1
    return result


def _call(tool: Tool, operation: Operation, plan: Plan, result: Result) -> None:
    path, method, item, node = operation
    parameters = _parameters(tool, item, node)
    media_type, bodies = _bodies(tool, node)
    operation_of_plan = tool.route.operation
    specification = plan.specifications[operation_of_plan.spec]
    writer = specification.writer(operation_of_plan, tool.route.slash_variables)
    entry = json.loads(orjson.dumps(list_entry(tool)))
    listed = jsonschema_rs.Draft202012Validator(entry["inputSchema"])
    result.called += 1
    schema = None if not bodies else node.get("requestBody").get("content").get(media_type)
    for body in bodies or [None]:
        arguments = _arguments(tool, parameters, body)
        try:
            expected = _written(method, path, tool, parameters, media_type, body, schema)
        except NotJudged as error:
            result.not_judged[str(error)[:60]] += 1
            continue
        result.valid += 1
        try:
            written = writer.write(tool.values(arguments))
        except ValueError as error:
            result.fail("refused valid", f"{tool.name}: {error}: {json.dumps(arguments)[:200]}")
            continue
        actual = (written.method, written.target, sorted(written.headers), written.body)
        if actual != expected:
            result.fail("changed", f"{tool.name}: {actual} is not {expected}")
        if not listed.is_valid(arguments):
            error_of_list = next(iter(listed.iter_errors(arguments)))
            result.fail("refused by the list", f"{tool.name}: {error_of_list!s:.300}")
    _mistakes(tool, _arguments(tool, parameters, bodies[0] if bodies else None), listed, result)
    if bodies and schema is not None:
        _body_mistakes(tool, parameters, bodies[0], schema.get("schema"), listed, result)


def _mistakes(tool: Tool, arguments: dict[str, Any], listed: Any, result: Result) -> None:
    """An argument that is required is missing, and one that there is not is given."""
    for name in tool.input_schema.get("required", ()):
        rest = {key: value for key, value in arguments.items() if key != name}
        _refused(tool, rest, name, listed, result)
    _refused(tool, {**arguments, "no-such-argument": 1}, "no-such-argument", listed, result)


def _body_mistakes(
    tool: Tool, parameters: Values, body: Any, schema: Part, listed: Any, result: Result
) -> None:
    in_path = {name for place, name in parameters if place == "path"}
    for miss in islice(near_misses(body), _MAX_MISSES):
        if not isinstance(schema.value, dict) or miss is None or schema.accepts(miss):
            continue
        if isinstance(miss, dict) and any(n in body and n not in miss for n in in_path):
            continue  # a member that the path has too may be left out: a repair
        _refused(tool, _arguments(tool, parameters, miss), "body", listed, result)


def _refused(
    tool: Tool, arguments: dict[str, Any], place: str, listed: Any, result: Result
) -> None:
    """A call with a mistake is refused, and its place is that of the mistake."""
    result.invalid += 1
    result.looser += listed.is_valid(arguments)
    try:
        tool.values(arguments)
    except InvalidArguments as error:
        if not error.place.startswith(place):
            result.fail("other place", f"{tool.name}: {error.place!r} is not in {place}")
    else:
        result.fail("let through", f"{tool.name} {place}: {json.dumps(arguments)[:200]}")


def _parameters(tool: Tool, item: Part, node: Part) -> Values:
    """A value for each parameter of which one can be generated. Raises NotJudged where that is not
    so of a required one."""
    declared: dict[tuple[str, str], Part] = {}
    for holder in (item, node):
        for parameter in holder.get("parameters").elements():
            declared[str(parameter.value.get("in")), str(parameter.value.get("name"))] = parameter
    known = {(a.location, a.parameter) for a in tool.arguments.arguments.values()}
    found: dict[tuple[str, str], tuple[Part, Any]] = {}
    for key, parameter in declared.items():
        if key not in known:
            continue
        try:
            found[key] = parameter, _value(parameter)
        except NotJudged:
            if parameter.value.get("required") is True or key[0] == "path":
                raise
    for location, name in known:
        if location == "path" and (location, name) not in found:
            raise NotJudged("a variable that no parameter declares")
    return found


def _value(parameter: Part) -> Any:
    contents = [media for _, media in parameter.get("content").items()]
    schema = (contents[0] if contents else parameter).get("schema")
    if not isinstance(schema.value, dict):
        raise NotJudged("a parameter without a schema")
    value = next(values(schema), None)
    if value is None or value in ("", [], {}):
        raise NotJudged("a parameter without a value")
    return value


def _bodies(tool: Tool, node: Part) -> tuple[str, list[Any]]:
    """The media type that the tool sends, and valid bodies of it. Raises NotJudged."""
    if tool.arguments.body is None:
        return "", []
    content = dict(node.get("requestBody").get("content").items())
    wanted = tool.arguments.body.media_type
    name = next((n for n in content if n == wanted), "")
    if not name or tool.arguments.body.kind not in ("json", "form"):
        raise NotJudged(f"a body of {wanted}")
    schema = content[name].get("schema")
    if not isinstance(schema.value, dict):
        return name, [{"a": 1}] if tool.arguments.body.kind == "json" else []
    found = list(islice(values(schema), _MAX_BODIES))
    if not found:
        raise NotJudged("no valid body was found")
    return name, found


def _arguments(tool: Tool, parameters: Values, body: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for argument in tool.arguments.arguments.values():
        key = (argument.location, argument.parameter)
        if key in parameters:
            arguments[argument.name] = parameters[key][1]
    return arguments if body is None else {**arguments, "body": body}


def _written(
    method: str, path: str, tool: Tool, parameters: Values, media_type: str, body: Any, media: Any
) -> tuple[str, str, list[tuple[str, str]], bytes]:
    """The request of these values. Raises NotJudged for a style that this module does not write."""
    path, _, fixed = path.partition("#")[0].partition("?")
    query, headers, cookies = [fixed] if fixed else [], [], []
    slashes = tool.route.slash_variables
    for argument in tool.arguments.arguments.values():
        place, name = argument.location, argument.parameter
        if (place, name) not in parameters:
            continue
        parameter, value = parameters[place, name]
        if place == "path":
            text = path_text(parameter, value)
            text = text.replace("%2F", "/") if name in slashes else text
            path = path.replace("{" + name + "}", text)
        elif place == "header":
            headers.append((name, header_text(parameter, value)))
        elif place == "query":
            query += query_texts(parameter, value)
        else:
            explode = parameter.value.get("explode", True)
            cookies += [f"{n}={v}" for n, v in _pairs(name, value, explode)]
    if cookies:
        headers.append(("cookie", "; ".join(cookies)))
    data = b""
    if body is not None:
        kind = media_type.partition(";")[0].strip().lower()
        data = _json(body) if kind != _FORM else _form(body, media)
        headers.append(("content-type", media_type))
    target = MOUNT + quote(path, safe="%/:;,=@!$&'()*+~.-_[]{}|\\^`\"<>#?") + _question(query)
    return method.upper(), target, sorted(headers), data


def _question(query: list[str]) -> str:
    return f"?{'&'.join(query)}" if query else ""


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _flat(value: Any) -> list[str]:
    """The texts of a value in the style `simple`. Raises NotJudged for an object."""
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, dict | list) or item is None for item in items):
        raise NotJudged("a parameter that is an object")
    return [item if isinstance(item, str) else json.dumps(item) for item in items]


def _pairs(name: str, value: Any, explode: bool) -> Iterator[tuple[str, str]]:
    texts = [quote(text, safe="") for text in _flat(value)]
    plain = quote(name, safe="")
    if isinstance(value, list) and not explode:
        yield plain, ",".join(texts)
    else:
        yield from ((plain, text) for text in texts)


def _form(value: Any, media: Part) -> bytes:
    """A form as curl and `qs` write it: lists repeat their names, objects have brackets."""
    pairs: list[str] = []
    for name, member in value.items():
        encoding = media.get("encoding").get(name)
        style = encoding.value.get("style") if isinstance(encoding.value, dict) else None
        if style == "deepObject" or is_deep(member):
            pairs += brackets(quote(name, safe=""), member)
        elif style in (None, "form"):
            explode = (encoding.value or {}).get("explode", True)
            pairs += [f"{n}={v}" for n, v in _pairs(name, member, explode)]
        else:
            raise NotJudged(f"the style {style}")
    return "&".join(pairs).encode()


def main(names: list[str]) -> int:
    failed = False
    total = Counter[str]()
    for name, file in [(n, Path(n).resolve()) for n in names] or corpus():
        if isinstance(file, str):
            print(f"{name}: {file}", flush=True)
            continue
        result = tool_trial(file)
        total += Counter(
            operations=result.operations,
            tools=result.tools,
            called=result.called,
            valid=result.valid,
            invalid=result.invalid,
        )
        counts = {kind: len(words) for kind, words in result.failures.items()}
        print(
            f"{name}: {result.operations} operations, {result.tools} tools, {result.called} called,"
            f" {result.valid} valid, {result.invalid} invalid calls (the listed schema accepts "
            f"{result.looser} of these), failures {counts or 'none'}",
            flush=True,
        )
        for kind, all_words in result.failures.items():
            for words in all_words[:_MAX_SHOWN]:
                print(f"    {kind}: {words[:600]}")
        for why, count in result.not_judged.most_common(4):
            print(f"    not judged, {count} times: {why}")
        failed = failed or bool(result.failures)
    print(dict(total))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
