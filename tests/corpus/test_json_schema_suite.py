"""The official test suite of JSON Schema as bodies of requests: draft 2020-12 under OpenAPI 3.1,
draft 4 under 3.0; judged as a gateway does, and by a running one."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from engine.source.problem import Findings
from engine.spec.spec import Specification, read
from engine.values.errors import GatewayError
from tests.support.documents import ask
from tests.support.running import gateway
from tests.support.schema_suite import DRAFTS, Group, groups, missing, write_document

REMOTE = "the reference is to an address, and nothing is downloaded"
FORMATS = "formats that are common in OpenAPI are checked"
EXTENDED = (
    "tests for implementation dynamic anchor and reference link",
    "$ref and $dynamicAnchor are independent of order - $defs first",
    "$ref and $dynamicAnchor are independent of order - $ref first",
)
REMOTE_IN_BOTH = [
    "ref: remote ref, containing refs itself / remote ref invalid",
    "definitions: validate definition against metaschema / invalid definition schema",
    "refRemote: remote ref / remote ref invalid",
    "refRemote: fragment within remote ref / remote fragment invalid",
    "refRemote: ref within remote ref / ref within ref invalid",
    "refRemote: base URI change / base URI change ref invalid",
    "refRemote: base URI change - change folder / string is invalid",
    "refRemote: base URI change - change folder in subschema / string is invalid",
    "refRemote: root ref in remote ref / object is invalid",
    "refRemote: Location-independent identifier in remote ref / string is invalid",
]

DIFFERENCES: dict[str, dict[str, list[str]]] = {
    "draft2020-12": {
        REMOTE: [
            *(name.replace("definitions:", "defs:") for name in REMOTE_IN_BOTH),
            "dynamicRef: strict-tree schema, guards against misspelled properties"
            " / instance with correct field",
            *(f"dynamicRef: {each} / incorrect parent schema" for each in EXTENDED),
            *(f"dynamicRef: {each} / incorrect extended schema" for each in EXTENDED),
            "dynamicRef: $ref to $dynamicRef finds detached $dynamicAnchor / non-number is invalid",
            "refRemote: anchor within remote ref / remote anchor invalid",
            "refRemote: remote ref with ref to defs / invalid",
            "refRemote: retrieved nested refs resolve relative to their URI not $id"
            " / number is invalid",
            "refRemote: remote HTTP ref with different $id / number is invalid",
            "refRemote: remote HTTP ref with different URN $id / number is invalid",
            "refRemote: remote HTTP ref with nested absolute ref / number is invalid",
            "refRemote: $ref to $ref finds detached $anchor / non-number is invalid",
        ],
        FORMATS: [
            f"format: {each} format / invalid {each} string is only an annotation by default"
            for each in ("email", "ipv4", "ipv6", "date", "date-time", "uuid")
        ],
        "the vocabularies of a meta-schema are not read": [
            "vocabulary: schema that uses custom metaschema with with no validation vocabulary"
            " / no validation: invalid number, but it still validates",
        ],
    },
    "draft4": {REMOTE: REMOTE_IN_BOTH},
}
"""Tests with another result than the suite's, by the reason. Where a reference is left out, what it
leads to refuses nothing; but for the strict tree, whose members are then all unknown."""

CONFIG = """version: 1
server: {{listen: "{{listen}}", workers: 1}}
specs: {{suite: {{document: "{document}"}}}}
upstreams:
  up:
    url: http://127.0.0.1:9
    proxy: ""
    retry: {{attempts: 1}}
    breaker: {{failures: 1000000}}
routes: [{{operations: suite.*, to: [{{upstream: up}}], auth: none}}]
"""


@pytest.fixture(params=DRAFTS)
def draft(request: pytest.FixtureRequest) -> str:
    if reason := missing():
        pytest.skip(reason)
    return str(request.param)


def differences(suite: list[Group], accepts: Callable[[int, Any], bool]) -> list[str]:
    """The tests with another result than the suite's, each with its group."""
    return [
        f"{group.name} / {title}"
        for number, group in enumerate(suite)
        for title, value, valid in group.values
        if accepts(number, value) is not valid
    ]


def check(draft: str, suite: list[Group], different: list[str]) -> None:
    """Every difference is one of those that are named."""
    total = sum(len(group.values) for group in suite)
    print(f"{draft}: {total - len(different)} of {total} agree; not these:", *different, sep="\n")
    named = [name for names in DIFFERENCES[draft].values() for name in names]
    assert sorted(different) == sorted(named)


def specification(file: Path) -> Specification:
    read_specification = read("suite", file, file.name, [], Findings())
    assert read_specification is not None
    return read_specification


@pytest.mark.timeout(900)
def test_the_judge_of_bodies_agrees_but_for_what_is_named(draft: str, tmp_path: Path) -> None:
    suite = groups(draft)
    operations = specification(write_document(tmp_path, draft, suite)).operations
    assert len(operations) == len(suite)

    def accepts(number: int, value: Any) -> bool:
        try:
            ask(operations[f"g{number}"], json.dumps(value).encode())
        except GatewayError:
            return False
        return True

    check(draft, suite, differences(suite, accepts))


@pytest.mark.timeout(900)
def test_a_running_gateway_agrees_but_for_what_is_named(draft: str, tmp_path: Path) -> None:
    suite = groups(draft)
    document = write_document(tmp_path, draft, suite)
    with gateway(tmp_path, CONFIG.format(document=document.name)) as running:
        connection = HTTPConnection("127.0.0.1", running.port, timeout=60)

        def accepts(number: int, value: Any) -> bool:
            headers = {"Content-Type": "application/json"}
            connection.request("POST", f"/g{number}", json.dumps(value).encode(), headers)
            response = connection.getresponse()
            body = response.read()
            assert response.status in (400, 502), body  # there is no upstream
            return response.status == 502

        different = differences(suite, accepts)
        connection.close()
    check(draft, suite, different)
