"""The official test suite of JSON Schema as bodies of requests: draft 2020-12 under OpenAPI 3.1,
draft 4 under 3.0; judged as a gateway does, and by a running one."""

from __future__ import annotations

import json
from collections import Counter
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

DIFFERENCES: dict[str, dict[str, tuple[int, str]]] = {
    "draft2020-12": {
        "anchor": (4, "references by $anchor and $id are left out, with a warning"),
        "defs": (1, "the meta-schema is at an address, and nothing is downloaded"),
        "dynamicRef": (18, "references by $dynamicAnchor, $anchor and $id are left out"),
        "format": (6, "formats that are common in OpenAPI are checked"),
        "ref": (17, "references by $anchor and $id are left out"),
        "refRemote": (15, "nothing is downloaded"),
        "unevaluatedItems": (1, "a reference by $dynamicAnchor is left out"),
        "unevaluatedProperties": (1, "a reference by $dynamicAnchor is left out"),
        "vocabulary": (1, "the vocabularies of a meta-schema are not read"),
    },
    "draft4": {
        "definitions": (1, "the meta-schema is at an address, and nothing is downloaded"),
        "ref": (6, "references by id are left out"),
        "refRemote": (8, "nothing is downloaded"),
    },
}
"""Tests with another result than the suite's, by the file of the suite, and why."""

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
    by_file = Counter(name.partition(":")[0] for name in different)
    assert by_file == {name: number for name, (number, _) in DIFFERENCES[draft].items()}


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
