"""The forms of issues are what GitHub's syntax for issue forms asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import yaml_text
from tests.support.paths import ROOT

FOLDER = ROOT / ".github" / "ISSUE_TEMPLATE"
FORMS = sorted(file for file in FOLDER.glob("*.yml") if file.name != "config.yml")


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.name)
def test_a_form_can_be_filled_in(file: Path) -> None:
    form = yaml_text.load(file.read_text("utf-8"))
    assert form.keys() == {"name", "description", "labels", "body"}
    fields = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields) > 0
    assert all(field["type"] == "textarea" and field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


def test_the_form_of_a_bug_sends_weaknesses_elsewhere() -> None:
    """They are reported in private, as SECURITY.md says."""
    assert "SECURITY.md" in (FOLDER / "bug.yml").read_text("utf-8")
    assert "Report a weakness" in (ROOT / "SECURITY.md").read_text("utf-8")
