"""The tools of the shipped documents write the requests of their documents. The same of companies'
documents: `python -m tests.documents.tools`."""

from __future__ import annotations

from tests.documents.tools import tool_trial
from tests.support.paths import ROOT


def test_a_sample_of_the_tools_of_a_shipped_document() -> None:
    result = tool_trial(ROOT / "openapi/openai.yaml", 8)
    assert result.failures == {}
    assert result.operations >= 19
    assert result.tools == result.operations - 4  # WebSockets
    assert result.valid >= 6
    assert result.invalid > 20
