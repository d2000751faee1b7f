"""The mock of OpenAI's document."""

from __future__ import annotations

import pytest
from falcon.testing import TestClient

from engine import dialects
from engine.mock.app import build
from engine.source import files
from engine.source.problem import Findings
from engine.spec.spec import read


@pytest.fixture(scope="package")
def client():
    findings = Findings()
    specification = read("openai", files.DOCUMENTS / "openai.yaml", "openai", (), findings)
    assert findings.problems == []
    return TestClient(build([(specification, dialects.get("openai"))], "secret"))
