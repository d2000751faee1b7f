"""Results of batches count against limits of tokens and money."""

from engine.app.routes.batch_charges import BatchCharges
from engine.exchange.stage_services import Services
from engine.values.caller import Caller
from engine.values.counters import CountersAway
from engine.values.quota import Quota
from engine.values.usage import Usage
from tests.support.exchanges import new_exchange

LIMITS = (
    Quota("requests", 1, 3600.0),
    Quota("tokens", 100, 3600.0),
    Quota("spend", 1_000_000, 3600.0),
    Quota("concurrency", 1),
)
ANN = Caller("ann", limits=LIMITS)


class Counters:
    """Counters that remember what was settled."""

    def __init__(self, denied=None, error=None):
        self.settled, self._denied, self._error = {}, denied, error

    def take(self, limits, costs):
        if self._error is not None:
            raise self._error
        denied = 0 if self._denied and self._denied in limits[0].key else None

        class Taken:
            receipt = limits[0].key

        Taken.denied = denied
        return Taken

    def settle(self, receipt, costs):
        self.settled[receipt] = costs


def charge(counters):
    exchange = new_exchange(caller=ANN)
    charges = BatchCharges((), Services(counters=counters), lambda *arguments: [])
    charges(exchange, "v.chat", "m", Usage(input=10, output=5), 700)
    return exchange


def test_tokens_and_money_count_and_requests_do_not():
    counters = Counters()
    charge(counters)
    assert [*counters.settled.values()] == [(15,), (700,)]


def test_a_quota_that_is_used_up_gets_no_more_and_the_others_do():
    counters = Counters(denied="tokens")
    charge(counters)
    assert [*counters.settled.values()] == [(700,)]


def test_without_counters_the_request_says_so():
    assert charge(Counters(error=CountersAway("away"))).record.uncounted
    assert not charge(None).record.uncounted
