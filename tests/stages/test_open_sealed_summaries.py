"""The stage that opens summaries: what the target gets."""

import orjson
import pytest

from engine.exchange.exchange import MISSING, Response
from engine.exchange.request_body import Body
from engine.objects.sealed_ids import Sealer
from engine.objects.summaries import INTRODUCTION, PREFIX, Summaries
from engine.stages.open_sealed_summaries import open_summaries
from engine.values.caller import Caller
from tests.support.exchanges import new_exchange

SUMMARIES = Summaries(Sealer(["a key for tests " * 4], []), "token")
ANN = Caller("ann")


def passed(body, *, parsed=True):
    """The exchange as the handler behind the stage gets it."""
    value = orjson.loads(body) if parsed else MISSING
    exchange = new_exchange(body=Body(body), value=value, caller=ANN, model="m")
    open_summaries(SUMMARIES, None)(exchange, lambda exchange: Response(200, []))
    return exchange


@pytest.mark.parametrize("parsed", [True, False])
def test_the_body_and_its_value_have_the_text(parsed):
    item = {"type": "compaction", "encrypted_content": SUMMARIES.seal("Done.", ANN)}
    request = {"model": "m", "input": [item, {"role": "user", "content": "go on"}], "store": False}
    exchange = passed(orjson.dumps(request), parsed=parsed)
    value = orjson.loads(bytes(exchange.body.buffer))
    assert value == exchange.content.value
    assert value["input"][0]["content"][0]["text"] == f"{INTRODUCTION}Done."
    assert {**value, "input": request["input"]} == request


@pytest.mark.parametrize(
    "body",
    [
        b'{"model": "m", "input": "mwsummary_"}',
        b'{"model": "m", "input": "%b"}' % PREFIX.encode(),
        b'["mwsummary_"]',
        b'{"input": [{"type": "compaction", "encrypted_content": "gAAA"}]}',
    ],
)
def test_a_request_without_one_keeps_every_byte(body):
    assert bytes(passed(body).body.buffer) == body
