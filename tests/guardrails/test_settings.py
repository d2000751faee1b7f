"""The settings of a guard, and its refusals."""

import pytest

from engine.guardrails.contract import Verdict
from engine.guardrails.settings import GuardSettings, block_error, unjudged_error


def test_without_options_both_sides_are_judged_and_findings_and_failures_block():
    settings = GuardSettings.read({"webhook": "https://user:secret@guard.example.com/x?key=1"})
    assert settings.stages == {"request", "response"}
    assert (settings.mode, settings.timeout, settings.passes_unjudged) == ("block", 2.0, False)
    assert settings.name == "guard.example.com"


def test_options_are_read():
    options = {"webhook": "presidio", "on": "request", "timeout": "500ms", "on_failure": "pass"}
    settings = GuardSettings.read({**options, "mode": "report"})
    assert (settings.name, settings.stages) == ("presidio", {"request"})
    assert (settings.timeout, settings.passes_unjudged, settings.reports) == (0.5, True, True)


def test_an_overlap_is_shorter_than_its_window():
    with pytest.raises(ValueError, match="'overlap' 60 is not below 'window' 50"):
        GuardSettings.read({"webhook": "x", "window": 50})


def test_refusals_say_what_was_refused():
    assert block_error("request", Verdict("block")).message.endswith("has blocked the request.")
    assert block_error("response", Verdict("block", message="No.")).message == "No."
    error = unjudged_error("response")
    assert (error.status, error.code) == (503, "guard_unavailable")
