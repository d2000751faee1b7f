"""Policies run in the order in which the config lists them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.offline.rehearsal import observation
from engine.offline.rehearsal.observation import Rehearsal
from engine.offline.rehearsal.rehearse import rehearse
from engine.plan.assembly.make_plan import make_plan
from engine.values.caller import Caller
from tests.support.each import each
from tests.support.paths import ROOT

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "model": {"type": "string"},
        "max_tokens": {"type": "integer"},
        "max_completion_tokens": {"type": "integer"},
        "n": {"type": "integer"},
        "tier": {"type": "string"},
    },
}
TYPES = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
BOUNDARY = "xYx"
RENAME = {"transform": {"request": {"body": {"rename": {"max_tokens": "max_completion_tokens"}}}}}
AT_MOST = {"deny": {"if": {"body": {"max_completion_tokens": {"exclusiveMinimum": 4096}}}}}
OLD_NAME: Any = {"deny": {"if": {"body": {"max_tokens": {}}}}}
TO: dict[str, Any] = {"to": [{"upstream": "main"}]}
BY_MODEL = {"model": "$request.body#/model"}
QUERY = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in ("v", "version")]


_OPERATIONS = {"/v1/s": "shop.say", "/v1/l": "shop.listen", "/v1/m": "shop.models"}


def document() -> dict[str, Any]:
    content = {kind: {"schema": SCHEMA} for kind in TYPES}
    say = {"requestBody": {"content": content}, "parameters": QUERY, "responses": {}}
    listen = {"responses": {"101": {"description": "ok"}}, "parameters": QUERY}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "/v1"}],
        "paths": {
            "/say": {"post": {"operationId": "say", **say}},
            "/listen": {"get": {"operationId": "listen", **listen}},
            "/models": {"get": {"operationId": "models", "responses": {}}},
        },
    }


def played(
    folder: Path,
    policies: list[Any],
    body: Any = None,
    *,
    first: list[Any] | None = None,
    models: dict[str, Any] | None = None,
    kind: str = TYPES[0],
    method: str = "POST",
    target: str = "/v1/say",
    headers: tuple[tuple[str, str], ...] = (),
    route: Mapping[str, Any] = TO,
) -> Rehearsal:
    """What becomes of a request; `first` are the policies of the file, `policies` those of the
    route."""
    config = {
        "version": 1,
        "specs": {"shop": {"document": "shop.yaml"}},
        "upstreams": {"main": {"url": "https://main.example.com"}},
        "models": models or {"m": TO, "other": TO},
        "policies": first or [],
        "routes": [{"operation": _OPERATIONS[target[:5]], "policies": policies, **route}],
        "tokens": [],
    }
    (folder / "shop.yaml").write_text(json.dumps(document()))
    planned = make_plan(folder / "gateway.yaml", {}, yaml.safe_dump(config))
    assert planned.plan is not None, [str(problem) for problem in planned.findings.errors]
    data = body if isinstance(body, bytes) else json.dumps(body).encode() if body else b""
    typed = [*headers, ("content-type", kind)] if data else [*headers]
    request = observation.request(method, target, typed, data)
    return rehearse(planned.plan, request, Caller("alice"))


def outcome(rehearsal: Rehearsal) -> str:
    """The code of the refusal, or "sent"."""
    if rehearsal.error is not None:
        return rehearsal.error.code
    return "sent" if rehearsal.sent_requests else str(rehearsal.status)


@each(
    ("policies", "code"),
    [
        ([RENAME, AT_MOST], "request_denied"),
        ([AT_MOST, RENAME], "sent"),
        ([RENAME, OLD_NAME], "sent"),
        ([OLD_NAME, RENAME], "request_denied"),
        ([OLD_NAME, RENAME, AT_MOST], "request_denied"),
        ([AT_MOST, RENAME, OLD_NAME], "sent"),
        ([RENAME, {"rate_limit": {"requests": 9, "per": "1m"}}, AT_MOST], "request_denied"),
    ],
)
@pytest.mark.parametrize("route", [TO, BY_MODEL], ids=["to", "model"])
def test_a_deny_judges_the_request_after_the_transforms_before_it(
    tmp_path: Path, route: dict[str, Any], policies: list[Any], code: str
) -> None:
    body = {"model": "m", "max_tokens": 5000}
    assert outcome(played(tmp_path, policies, body, route=route)) == code


@each(
    "kind",
    ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"],
)
@each("name", ["Max_tokens", "maxTokens", "max-tokens"])
def test_a_rename_leaves_no_other_spelling_of_the_old_name(
    tmp_path: Path, kind: str, name: str
) -> None:
    """Of which a deny behind it would see nothing."""
    fields = {"model": "m", name: "5000"}
    body = {**fields, name: 5000} if kind == TYPES[0] else form(**fields)
    if kind == TYPES[2]:
        parts = "".join(
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
            for field, value in fields.items()
        )
        body, kind = f"{parts}--{BOUNDARY}--\r\n".encode(), f"{kind}; boundary={BOUNDARY}"
    (request,) = played(tmp_path, [RENAME, AT_MOST], body, kind=kind).sent_requests
    assert b"5000" not in request.body


def test_a_rename_in_a_query_leaves_no_other_spelling(tmp_path: Path) -> None:
    rename = {"transform": {"request": {"query": {"rename": {"v": "version"}}}}}
    (request,) = played(tmp_path, [rename], {}, target="/v1/say?V=evil&version=a").sent_requests
    assert request.url.endswith("?version=a")


@each(
    ("members", "code"),
    [
        ({"generationConfig": {"topK": 1}}, "sent"),
        ({"generation_config": {"top_k": 1}}, "sent"),
        ({"generationConfig": {"topK": 5}}, "request_denied"),
        ({"generation_config": {"top_k": 5}}, "request_denied"),
        ({}, "sent"),
    ],
)
def test_what_a_transform_writes_in_one_spelling_is_judged_in_both(
    tmp_path: Path, members: dict[str, Any], code: str
) -> None:
    place = "/generation_config/candidate_count"
    rename = {"/generation_config/top_k": place}
    default = {"/generation_config/thinking_config": {"thinking_budget": 1}}
    config = {
        "version": 1,
        "specs": {"gemini": {"document": str(ROOT / "openapi/gemini.yaml"), "dialect": "gemini"}},
        "upstreams": {"main": {"url": "https://main.example.com", "dialect": "gemini"}},
        "routes": [
            {
                "operation": "gemini.generateContent",
                "policies": [
                    {"transform": {"request": {"body": {"rename": rename, "default": default}}}},
                    {"deny": {"if": {"body": {place: {"minimum": 2}}}}},
                    {"deny": {"if": {"body": {"/generationConfig/candidateCount": {"const": 3}}}}},
                    {
                        "deny": {
                            "unless": {
                                "body": {"/generationConfig/thinkingConfig/thinkingBudget": 1}
                            }
                        }
                    },
                ],
                **TO,
            }
        ],
        "tokens": [],
    }
    planned = make_plan(tmp_path / "gateway.yaml", {}, yaml.safe_dump(config))
    assert planned.plan is not None, [str(problem) for problem in planned.findings.errors]
    data = json.dumps({"contents": [{"parts": [{"text": "hi"}]}], **members}).encode()
    headers = [("content-type", "application/json")]
    request = observation.request("POST", "/v1beta/models/m:generateContent", headers, data)
    assert outcome(rehearse(planned.plan, request, Caller("alice"))) == code


def form(**fields: Any) -> bytes:
    return "&".join(f"{name}={value}" for name, value in fields.items()).encode()


def multipart(**fields: Any) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="'
    parts = [f'{head}{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()]
    return ("".join(parts) + f"--{BOUNDARY}--\r\n").encode()


SET = {"transform": {"request": {"body": {"set": {"tier": "free"}}}}}
NOT_FREE = {"deny": {"if": {"body": {"tier": {"not": {"const": "free"}}}}}}
NOT_SET = {"deny": {"unless": {"body": {"tier": "free"}}}}


@each(
    ("policies", "code"),
    [
        ([SET, NOT_FREE], "sent"),
        ([NOT_FREE, SET], "request_denied"),
        ([SET, NOT_SET], "sent"),
        ([NOT_SET, SET], "request_denied"),
    ],
)
@pytest.mark.parametrize("encode", [form, multipart])
def test_forms_are_judged_as_they_were_edited(
    tmp_path: Path, encode: Any, policies: list[Any], code: str
) -> None:
    kind = TYPES[1] if encode is form else f"{TYPES[2]}; boundary={BOUNDARY}"
    for route in (TO, BY_MODEL):
        rehearsal = played(
            tmp_path, policies, encode(tier="gold", model="m"), kind=kind, route=route
        )
        assert outcome(rehearsal) == code


HEADER = {"transform": {"request": {"header": {"rename": {"x-a": "x-b"}}}}}
DENY_B = {"deny": {"if": {"header": {"x-b": "evil"}}}}
DENY_A = {"deny": {"if": {"header": {"x-a": "evil"}}}}
TAG = {"transform": {"request": {"query": {"rename": {"v": "version"}}}}}
DENY_VERSION = {"deny": {"if": {"query": {"version": "2"}}}}
DENY_V = {"deny": {"if": {"query": {"v": "2"}}}}


@each(
    ("policies", "code"),
    [
        ([HEADER, DENY_B], "request_denied"),
        ([DENY_B, HEADER], "sent"),
        ([HEADER, DENY_A], "sent"),
        ([DENY_A, HEADER], "request_denied"),
        ([TAG, DENY_VERSION], "request_denied"),
        ([DENY_VERSION, TAG], "sent"),
        ([TAG, DENY_V], "sent"),
        ([HEADER, TAG, DENY_A, DENY_V, DENY_B], "request_denied"),
    ],
)
@pytest.mark.parametrize("method", ["POST", "GET"], ids=["http", "websocket"])
def test_headers_and_queries_are_judged_as_they_were_edited(
    tmp_path: Path, method: str, policies: list[Any], code: str
) -> None:
    headers: tuple[tuple[str, str], ...] = (("x-a", "evil"),)
    target = "/v1/say?v=2"
    if method == "GET":
        target = "/v1/listen?v=2"
        headers += (
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        )
    rehearsal = played(tmp_path, policies, method=method, target=target, headers=headers)
    expected = {"POST": "sent", "GET": "not_implemented"}[method] if code == "sent" else code
    assert outcome(rehearsal) == expected


@each(
    ("first", "policies", "code"),
    [([RENAME], [AT_MOST], "request_denied"), ([AT_MOST], [RENAME], "sent")],
)
def test_the_policies_of_the_file_are_before_those_of_the_route(
    tmp_path: Path, first: list[Any], policies: list[Any], code: str
) -> None:
    assert outcome(played(tmp_path, policies, {"max_tokens": 5000}, first=first)) == code


def test_of_two_refusals_the_first_one_written_answers(tmp_path: Path) -> None:
    names = {"allow_models": ["other"]}
    body = {"model": "m", "n": 2, "max_tokens": 5}
    many = {"deny": {"if": {"body": {"n": 2}}}}
    for policies, code in (
        ([names, many], "model_not_allowed"),
        ([many, names], "request_denied"),
        ([RENAME, names, many], "model_not_allowed"),
    ):
        assert outcome(played(tmp_path, policies, body, route=BY_MODEL)) == code


def test_a_policy_does_not_see_the_edits_of_the_model_and_its_upstreams(tmp_path: Path) -> None:
    models = {"m": {**TO, **RENAME}}
    body = {"model": "m", "max_tokens": 5000}
    rehearsal = played(tmp_path, [AT_MOST], body, models=models, route=BY_MODEL)
    assert outcome(rehearsal) == "sent"
    (sent,) = rehearsal.sent_requests
    assert json.loads(sent.body)["max_completion_tokens"] == 5000


def test_an_answer_of_the_gateway_is_judged_as_it_was_received(tmp_path: Path) -> None:
    request = {"method": "GET", "target": "/v1/models", "route": {"answer": "models"}}
    headers = (("x-a", "evil"),)
    for policies, code in (([HEADER, DENY_A], "request_denied"), ([HEADER, DENY_B], "200")):
        rehearsal = played(tmp_path, policies, headers=headers, **request)  # type: ignore[arg-type]
        assert outcome(rehearsal) == code


EDITS: list[Any] = [
    {"transform": {"request": {"body": {"set": {"tier": "{request.query.v}"}}}}},
    {"transform": {"request": {"query": {"remove": ["v"]}, "header": {"set": {"x-t": "1"}}}}},
    {"deny": {"if": {"body": {"n": 9}}}},
    {"transform": {"request": {"body": {"set": {"n": 3}}, "header": {"set": {"x-u": "2"}}}}},
]


@pytest.mark.parametrize("with_deny", [True, False])
def test_a_policy_between_transforms_changes_nothing_of_what_they_do(
    tmp_path: Path, with_deny: bool
) -> None:
    """Templates have the values of the request as it was received."""
    last = {"transform": {"request": {"header": {"add": {"x-v": "{request.query.v}"}}}}}
    policies = [edit for edit in [*EDITS, last] if with_deny or "deny" not in edit]
    body = {"model": "m", "max_tokens": 1}
    rehearsal = played(tmp_path, policies, body, target="/v1/say?v=2", route=BY_MODEL)
    (sent,) = rehearsal.sent_requests
    assert json.loads(sent.body) == {**body, "tier": "2", "n": 3}
    assert sent.url.endswith("/say")
    names = ("x-t", "x-u", "x-v")
    assert [value for name, value in sent.headers if name in names] == ["1", "2", "2"]


def test_the_edited_request_is_validated_when_all_edits_are_made(tmp_path: Path) -> None:
    wrong = {"transform": {"request": {"body": {"rename": {"tier": "n"}}}}}
    mended = {"transform": {"request": {"body": {"set": {"n": 1}}}}}
    deny = {"deny": {"if": {"body": {"max_tokens": 9}}}}
    for policies, code in (([wrong, deny], "internal_error"), ([wrong, deny, mended], "sent")):
        assert outcome(played(tmp_path, policies, {"tier": "x"})) == code
