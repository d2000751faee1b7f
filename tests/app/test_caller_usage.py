"""Usage is made of the plan and the services of a worker, when it is first asked for."""

from types import SimpleNamespace

from engine.app.caller_usage import usage_of
from engine.exchange.services import Services
from engine.values.caller import Caller


def test_it_is_made_once():
    asked = []

    class Plan:
        @property
        def routes(self):
            asked.append("routes")
            return []

        config = SimpleNamespace(models={})

    usage = usage_of(SimpleNamespace(plan=Plan(), services=Services(currency="EUR")))
    assert asked == []
    for name in ("ann", "ben"):
        assert usage(Caller(name), 1, False)["currency"] == "EUR"
    assert asked == ["routes"]
