"""The official test suite of JSON Schema as bodies of requests: draft 2020-12 under OpenAPI 3.1,
draft 4 under 3.0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.source.problem import Findings
from engine.spec.operation import Operation
from engine.spec.spec import read
from engine.values.errors import GatewayError
from tests.support.documents import ask
from tests.support.schema_suite import DRAFTS, groups, missing, write_document


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_judge_of_bodies_agrees(draft: str, tmp_path: Path) -> None:
    if reason := missing():
        pytest.skip(reason)
    suite = groups(draft)
    file = write_document(tmp_path, draft, suite)
    findings = Findings()
    specification = read("suite", file, file.name, [], findings)
    assert specification is not None
    total, differences = 0, []
    for number, group in enumerate(suite):
        operation = specification.operations.get(f"g{number}")
        for title, value, valid in group.values:
            total += 1
            got = "off" if operation is None else accepts(operation, value)
            if got is not valid:
                differences.append(f"{group.name} / {title}: got {got}, expected {valid}")
    print(f"{draft}: {total - len(differences)} of {total}")
    for line in differences:
        print(line)


def accepts(operation: Operation, value: Any) -> bool:
    """Whether the operation's own judge of bodies accepts a value."""
    try:
        ask(operation, body(value))
    except GatewayError:
        return False
    return True
