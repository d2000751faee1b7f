"""The shipped plan, and its pages without a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import falcon.testing
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from engine.app.build import build
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import Plan
from engine.source import files
from tests.support.running import TOKENS

Serve = Callable[..., falcon.testing.TestClient]


def planned(text: str) -> Plan:
    """The plan of a config in the folder of the shipped one."""
    result = make_plan(files.HOME / "gateway.yaml", {}, text)
    assert result.plan is not None, result.problems
    return result.plan


def openapi_errors(document: dict[str, Any]) -> list[str]:
    """The violations of OpenAPI 3.1 in a document."""
    return [str(error)[:500] for error in OpenAPIV31SpecValidator(document).iter_errors()]


@pytest.fixture(scope="session")
def text() -> str:
    """The shipped gateway.yaml with the tokens of the tests."""
    shipped = Path(files.CONFIG).read_text("utf-8")
    return shipped.partition("\ntokens:")[0] + "\n" + TOKENS


@pytest.fixture(scope="session")
def without_responses(text: str) -> Plan:
    """The plan of the shipped config without the Responses API, over HTTP and WebSockets."""
    head, mark, rest = text.partition("  - operation: openai.connectResponses\n")
    assert mark
    head = head.replace("      - openai.createResponse\n", "")
    return planned(head + rest[rest.index("\n  - ") + 1 :])


@pytest.fixture(scope="session")
def shipped(text: str) -> Plan:
    return planned(text)


@pytest.fixture(scope="session")
def client(shipped: Plan) -> falcon.testing.TestClient:
    return falcon.testing.TestClient(build(shipped))
