"""The services of a worker."""

from __future__ import annotations

from engine.app.services.worker_services import prepare
from engine.values.caller import digest
from tests.support.running import ALL


def test_without_stores_there_is_nothing_but_the_tokens(config, opened):
    settings = config("")
    assert prepare(settings) == ""
    services = opened(settings)
    assert services.tokens.get(digest(ALL)).name == "everything"
    assert (services.counters, list(services.observers)) == (None, [])
    assert not services.allow_uncounted
