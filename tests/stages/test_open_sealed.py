"""The stage that opens ids: what the handlers behind it see, and what the log sees."""

import orjson
import pytest

from engine.exchange.exchange import MISSING, Response
from engine.exchange.request_body import Body
from engine.objects.facts_reader import read_facts
from engine.objects.id_opener import IdOpener
from engine.objects.request_ids import RequestIds
from engine.objects.sealed_ids import Holder, Identity, Sealer, owner_of
from engine.objects.summaries import INTRODUCTION, PREFIX, Summaries
from engine.spec.expression import parse
from engine.spec.model_locations import ModelLocations
from engine.stages.open_sealed import open_ids, open_summaries
from engine.values.caller import Caller
from tests.support.each import each
from tests.support.exchanges import new_exchange

ANN = Caller("ann", team="red")
SEALER = Sealer(["a key for tests " * 4], ["alpha"])
FACTS, _ = read_facts({"names": {"file": ["path.f", "query.q", "body#/id"]}})


def run(exchange, owner="token", locations=None):
    """What the handler behind the stage sees."""
    opener = IdOpener(SEALER, everybody=False, passes=False)
    ids = RequestIds(FACTS, opener, lambda exchange: None)
    seen = []

    def last(exchange):
        seen.append((exchange.path, exchange.query, exchange.objects))
        return Response(200, [])

    open_ids(ids, owner, locations)(exchange, last)
    return seen[0]


def sealed(owner):
    identity = Identity("file-1", Holder("alpha"), owner_of(ANN, owner))
    return SEALER.seal(identity, "file")


def test_the_upstream_sees_the_vendors_id_and_the_log_the_callers():
    text = sealed("token")
    exchange = new_exchange(
        path=f"/{text}", query=f"q={text}", variables={"f": (1, 1 + len(text))}, caller=ANN
    )
    path, query, opened = run(exchange)
    assert (path, query) == ("/file-1", "q=file-1")
    assert (opened.holder, opened.owner) == (Holder("alpha"), owner_of(ANN, "token"))
    exchange.end()
    assert (exchange.path, exchange.query) == (f"/{text}", f"q={text}")
    assert exchange.variable("f") == text


def test_a_team_opens_what_its_members_made():
    text = sealed("team")
    caller = Caller("cat", team="red")
    exchange = new_exchange(path=f"/{text}", variables={"f": (1, 1 + len(text))}, caller=caller)
    assert run(exchange, "team")[0] == "/file-1"


def test_the_name_of_the_model_is_found_again_in_an_edited_body():
    text = f'{{"id": "{sealed("token")}", "model": "m"}}'.encode()
    exchange = new_exchange(
        environ={"CONTENT_TYPE": "application/json"},
        body=Body(text),
        value={"id": sealed("token"), "model": "m"},
        media_type="application/json",
        model="m",
        caller=ANN,
    )
    run(exchange, locations=ModelLocations(parse("$request.body#/model")))
    start, end = exchange.model.span
    assert exchange.body.in_memory == b'{"id": "file-1", "model": "m"}'
    assert exchange.body.in_memory[start:end] == b'"m"'


@each(
    ("text", "value", "opens"),
    [
        (b'{"messages": []}', {"messages": []}, False),
        (b'{"file": "x"}', {"file": "x"}, True),
        (b'{"f\\u0069le": "x"}', {"file": "x"}, True),
        (b'{"messages": []}', MISSING, True),  # nobody has said that it is JSON in UTF-8
    ],
)
def test_parsed_json_without_signs_is_passed_on(text, value, opens):
    facts, _ = read_facts({"names": {"file": ["body#/file"]}})
    ids = RequestIds(facts, IdOpener(SEALER, everybody=False, passes=True), lambda exchange: None)
    exchange = new_exchange(
        environ={"CONTENT_TYPE": "application/json"},
        body=Body(text),
        value=value,
        media_type="application/json",
    )
    open_ids(ids, "token", None, ids.signs)(exchange, lambda exchange: Response(200, []))
    assert (exchange.objects is not None) == opens


SUMMARIES = Summaries(Sealer(["a key for tests " * 4], []), "token")
BOB = Caller("bob")


def passed(body, *, parsed=True):
    """The exchange as the handler behind the stage gets it."""
    value = orjson.loads(body) if parsed else MISSING
    exchange = new_exchange(body=Body(body), value=value, caller=BOB, model="m")
    open_summaries(SUMMARIES, None)(exchange, lambda exchange: Response(200, []))
    return exchange


@pytest.mark.parametrize("parsed", [True, False])
def test_the_body_and_its_value_have_the_text(parsed):
    item = {"type": "compaction", "encrypted_content": SUMMARIES.seal("Done.", BOB)}
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
