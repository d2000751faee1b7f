"""The status of the config: what is in use, and why the last reload was refused."""

from __future__ import annotations

from engine.telemetry.config_status import ConfigStatus


def test_a_refused_reload_keeps_the_config_in_use():
    status = ConfigStatus()
    status.accept("abc", 10.0)
    status.refuse("gateway.yaml:1:1: no")
    assert (status.hash, status.loaded, status.error) == ("abc", 10.0, "gateway.yaml:1:1: no")
    status.accept("def", 20.0)
    assert (status.hash, status.loaded, status.error) == ("def", 20.0, "")


def test_a_source_replaces_the_status_unless_it_knows_none():
    answers = [("abc", 10.0, "refused"), None]
    status = ConfigStatus(source=lambda: answers.pop(0))
    for _ in range(2):
        status.refresh()
        assert (status.hash, status.loaded, status.error) == ("abc", 10.0, "refused")


def test_without_a_source_a_refresh_changes_nothing():
    status = ConfigStatus("abc", 10.0)
    status.refresh()
    assert (status.hash, status.loaded) == ("abc", 10.0)
