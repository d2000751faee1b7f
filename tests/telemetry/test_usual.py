"""A usual line is no other line than any: it is only made in another way."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.exchange.body import Body
from engine.exchange.exchange import Attempt, Exchange, Traffic
from engine.telemetry.access_log import AccessLog
from engine.values.caller import Caller
from engine.values.usage import Usage

TEXT = st.text(st.characters(), max_size=12) | st.sampled_from(["%", "%s", "%%d", '"', "\x7f", ""])
COUNT = st.integers(0, 10**9)
SECONDS = st.floats(0, 10**6)


class Traced:
    trace_id = "0af7651916cd43dd8448eb211c80319c"


def over(words=("",) * 9, counts=(0,) * 6, seconds=(0.0,) * 5, **known):
    """An exchange that one upstream answered."""
    name, model, served, upstream, target, outcome, path, address, source = words
    exchange = Exchange("POST", path, "", {"REMOTE_ADDR": address}, "req_1", operation="a.b")
    exchange.caller, exchange.model = Caller(name), model
    kept = exchange.record
    kept.model, kept.upstream, kept.stream = served, upstream, counts[0] % 2 == 1
    kept.usage = Usage(counts[1], counts[2], counts[3], source=source)
    kept.cost, kept.bytes_out = counts[4], counts[5]
    kept.time, kept.first_byte, kept.duration, kept.waited, took = seconds
    kept.tries = [Attempt(target, upstream, "m", "", 200, 0.0, took)]
    kept.end(200, outcome)
    for name, value in known.items():
        setattr(exchange if hasattr(exchange, name) else kept, name, value)
    return exchange


def logs():
    """A log and its lines; and one that knows of no usual ones."""
    made = []
    for _ in range(2):
        lines = []
        log = AccessLog(lines.append, dice=lambda: 0.5, currency="EUR")
        made.append((log, lines))
    made[1][0]._usual = None
    return made


def close(row):
    """A row whose seconds are rounded to what both ways of rounding agree on."""
    if isinstance(row, dict):
        return {name: close(value) for name, value in row.items()}
    if isinstance(row, list):
        return [close(value) for value in row]
    return pytest.approx(row, abs=1.1e-6) if isinstance(row, float) else row


@given(
    st.tuples(*[TEXT] * 9),
    st.lists(st.tuples(st.tuples(*[COUNT] * 6), st.tuples(*[SECONDS] * 5)), min_size=1, max_size=3),
    st.sampled_from([None, Traced()]),
)
def test_it_says_what_any_line_says(words, numbers, trace):
    (usual, lines), (plain, others) = logs()
    for counts, seconds in numbers:
        exchange = over(words, counts, seconds, trace=trace)
        assert usual._usual.line(exchange) is not None
        usual.write([exchange])
        plain.write([exchange])
    for line, other in zip(lines, others, strict=True):
        assert line.isascii()
        assert line.count(b"\n") == 1
        assert list(json.loads(line)) == list(json.loads(other))
        assert json.loads(line) == close(json.loads(other))


@pytest.mark.parametrize(
    "known",
    [
        {"tries": []},
        {"tries": [Attempt("u/m", "u", "m", "", 200, 0.0, 0.0)] * 2},
        {"first_byte": None},
        {"traffic": Traffic()},
        {"usage": Usage(reasoning=1)},
        {"usage": Usage(images=1)},
        {"usage": Usage(seconds=0.5)},
        {"usage": Usage(characters=1)},
        {"model": "m" * 4096},
        {"path": "/" * 257},
        {"path": "/v1/mw-" + "a" * 43},
        {"environ": {"REMOTE_ADDR": "1" * 257}},
    ],
)
def test_what_is_not_usual_is_left_to_others(known):
    (usual, lines), (plain, others) = logs()
    exchange = over(**known)
    assert usual._usual.line(exchange) is None
    usual.write([exchange])
    plain.write([exchange])
    assert lines == others


ONE = Attempt("u/m", "u", "m", "", 200, 0.0, 0.0)


@pytest.mark.parametrize(
    "known",
    [
        *({"caller": Caller("x")}, {"method": "PUT"}, {"operation": "x.y"}),
        *({"path": "/x"}, {"environ": {"REMOTE_ADDR": "1.2.3.4"}}, {"request_id": "req_2"}),
        *({"trace": Traced()}, {"tries": [ONE._replace(target="x")]}),
        *({"tries": [ONE._replace(failure="x")]}, {"tries": [ONE._replace(status=201)]}),
        *({"status": 404}, {"outcome": "x"}, {"code": "x"}, {"limit": "x"}, {"stream": True}),
        *({"upstream": "x"}, {"usage": Usage(source="x")}, {"usage": Usage(1, 2, 3)}, {"cost": 5}),
        *({"bytes_out": 9}, {"body": Body(b"abc")}, {"time": 5.25}, {"first_byte": 0.5}),
        *({"duration": 0.5}, {"duration": 0.5, "waited": 0.25}),
    ],
    ids=" ".join,
)
def test_no_line_says_what_is_true_of_another(known):
    (usual, lines), (plain, others) = logs()
    for exchange in (over(tries=[ONE]), over(**{"tries": [ONE], **known})):
        assert usual._usual.line(exchange) is not None
        usual.write([exchange])
        plain.write([exchange])
    assert json.loads(lines[1]) == json.loads(others[1])
    assert json.loads(lines[0]) != json.loads(lines[1])


@pytest.mark.parametrize("attribute", ["served", "asked"])
def test_a_model_has_a_line_of_its_own(attribute):
    (usual, lines), (plain, others) = logs()
    for name in ("a", "b"):
        exchange = over()
        if attribute == "served":
            exchange.record.model = name
        else:
            exchange.model = name
        usual.write([exchange])
        plain.write([exchange])
    assert list(map(json.loads, lines)) == list(map(json.loads, others))


def test_what_is_long_is_not_remembered():
    (usual, _), _ = logs()
    usual.write([over(model="m" * 4096)])
    assert not usual._usual._known


def test_callers_who_name_ever_new_models_fill_no_memory():
    (usual, _), _ = logs()
    for number in range(1000):
        usual.write([over(model=f"m{number}")])
    assert len(usual._usual._known) <= 256
