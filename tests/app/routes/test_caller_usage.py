"""Usage is made of the plan and the services of a worker, when it is first asked for."""

from types import SimpleNamespace

from engine.app.routes.caller_usage import LazyUsage
from engine.exchange.stage_services import Services
from engine.stores.usage_query import UsageQuery
from engine.values.caller import Caller


def test_it_is_made_once():
    asked = []

    class Plan:
        @property
        def routes(self):
            asked.append("routes")
            return []

        config = SimpleNamespace(models={}, tags=())

    usage = LazyUsage(SimpleNamespace(plan=Plan(), services=Services(currency="EUR")))
    assert asked == []
    for name in ("ann", "ben"):
        assert usage.sums(Caller(name), UsageQuery(1, 1))["currency"] == "EUR"
    assert asked == ["routes"]
