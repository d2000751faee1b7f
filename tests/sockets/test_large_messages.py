"""Large messages are read without what they nest."""

import itertools
import json
import random
import string
import time

import gevent
import orjson
import pytest

from engine.sockets import large_messages
from engine.sockets.large_messages import read_large_message
from tests.support.each import each


def written_again(data):
    """What is read, as JSON would be parsed of it."""
    message = read_large_message(data)
    return None if message is None else orjson.loads(orjson.dumps(message.members))


def random_value(dice, depth):
    kind = dice.randrange(6 if depth else 4)
    if kind < 2:
        return "".join(dice.choice('ab"\\{}[],:\n' + string.printable) for _ in range(kind * 20))
    if kind < 4:
        return dice.choice([None, True, 1.5, -3])
    values = [random_value(dice, depth - 1) for _ in range(dice.randrange(4))]
    return values if kind == 4 else {f"k{i}{dice.choice('[{')}": v for i, v in enumerate(values)}


@pytest.mark.parametrize("window", [1, 2, 7, 8192])
def test_every_message_is_what_a_parser_reads(window, monkeypatch):
    monkeypatch.setattr(large_messages, "WINDOW", window)
    dice = random.Random(window)
    for _ in range(200):
        message = {f"m{i}": random_value(dice, 3) for i in range(dice.randrange(5))}
        text = json.dumps(message, indent=dice.choice([None, 1])).encode()
        assert written_again(text) == message, text


def test_the_items_of_an_input_are_as_they_were_written():
    message = read_large_message(b'{"input": [ {"a" : [1]}, 2 ] , "x": []}')
    assert message.items == b'{"a" : [1]}, 2'
    assert read_large_message(b'{"input":"text"}').items is None
    assert read_large_message(b'{"input":{"a":[]}}').items is None


def test_the_last_of_a_repeated_member_counts_as_everywhere():
    assert written_again(b'{"a":[1],"b":[2],"a":[3]}') == {"a": [3], "b": [2]}


@each(
    "data",
    [
        b'{"a":[1',
        b'{"a":"x',
        b'{"a":[1}',
        b'{"a":[1},"b":{2]}',
        b'{"a":1}}',
        b"",
        b'{"a":[1],}',
        b'{"a":1}{"b":2}',
    ],
)
def test_what_is_no_json_is_refused(data):
    with pytest.raises(orjson.JSONDecodeError):
        read_large_message(data)


def test_many_small_members_are_refused_before_they_are_parsed():
    data = b"{" + b",".join(b'"m%d":%d' % (n, n) for n in range(100_000)) + b"}"
    with pytest.raises(orjson.JSONDecodeError):
        read_large_message(data)


def test_an_array_is_no_message():
    assert read_large_message(b'[{"a":1}]') is None
    assert read_large_message(b"17") is None


def test_others_go_on_meanwhile():
    words = "Some words of a conversation. "
    items = [{"role": "user", "content": words * 5}] * 20_000
    data = orjson.dumps({"type": "response.create", "instructions": words * 50_000, "input": items})
    turns = []

    def count():
        while True:
            turns.append(time.process_time())
            gevent.sleep(0)

    counting = gevent.spawn(count)
    assert len(read_large_message(data).items) == len(orjson.dumps(items)) - 2
    counting.kill()
    assert len(turns) > 10
    pauses = [after - before for before, after in itertools.pairwise(turns)]
    assert max(pauses) < 0.02
