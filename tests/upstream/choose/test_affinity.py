"""`affinity`: who gets the requests of a key, and when somebody else does."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from engine import dialects
from engine.config.models import Choice
from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import MISSING, Exchange
from engine.exchange.prompt_text import prompt_prefix
from engine.exchange.request_client import SESSION_HEADERS
from engine.exchange.stage_services import Services
from engine.upstream import choose
from engine.upstream.addresses.replicas import Replicas
from engine.upstream.choose import affinity
from engine.upstream.choose.affinity import agent_key
from engine.upstream.client.dial_order import Address, Share
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_groups import TargetGroup
from tests.support.choosing import Machine, Replica
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.upstreams import AddressedClient, Client, target, upstream

BY_SESSION = "$request.header.session-id"
EIGHT = [f"replica{n}" for n in range(8)]


def group_of(names: list[str], options: Any = BY_SESSION, weights: Any = None) -> TargetGroup:
    """A group of one worker."""
    targets = [
        target(Client(), name=name, weight=weight)
        for name, weight in zip(names, weights or [1] * len(names), strict=True)
    ]
    return TargetGroup(targets, choose.build(Services(), Choice("affinity", options)))


def session(key: object) -> Exchange:
    return new_exchange(environ={"HTTP_SESSION_ID": str(key)})


def first(group: TargetGroup, exchange: Exchange) -> str:
    """The name of the first choice."""
    return next(group.picks(exchange)).upstream.name


def test_a_session_goes_to_the_same_target() -> None:
    group = group_of(EIGHT)
    for key in range(100):
        assert len({first(group, session(key)) for _ in range(5)}) == 1


def test_all_gateways_agree_whatever_the_order_of_the_file() -> None:
    one, other = group_of(EIGHT), group_of(EIGHT[::-1])
    assert all(first(one, session(key)) == first(other, session(key)) for key in range(500))


@pytest.mark.parametrize("count", [2, 8, 100])
def test_each_target_has_its_share_of_the_sessions(count: int) -> None:
    group = group_of([f"replica{n}" for n in range(count)])
    counts = Counter(first(group, session(key)) for key in range(200 * count))
    assert all(120 < counts[f"replica{n}"] < 290 for n in range(count)), counts


def test_weights_are_shares_of_the_sessions() -> None:
    group = group_of(["a", "b", "c", "d"], weights=[6, 3, 1, 0])
    counts = Counter(first(group, session(key)) for key in range(5_000))
    assert [round(counts[name] / 5_000, 1) for name in "abcd"] == [0.6, 0.3, 0.1, 0.0]


@pytest.mark.parametrize("weights", [None, [1, 2, 3, 4, 5, 6, 7, 8]])
def test_of_eight_one_leaves_and_only_its_sessions_move(weights: Any) -> None:
    before = group_of(EIGHT, weights=weights)
    after = group_of(EIGHT[:-1], weights=weights and weights[:-1])
    keys = range(4_000)
    moved = [key for key in keys if first(before, session(key)) != first(after, session(key))]
    assert all(first(before, session(key)) == EIGHT[-1] for key in moved)
    share = 1 / 8 if weights is None else 8 / 36
    assert abs(len(moved) / len(keys) - share) < 0.02
    # They are shared out among those that stay.
    assert len({first(after, session(key)) for key in moved}) == 7


def test_a_target_that_fails_leaves_each_session_to_its_second_choice() -> None:
    before, after = group_of(EIGHT), group_of(EIGHT[:-1])
    for key in range(1_000):
        picks = [each.upstream.name for each in before.picks(session(key))]
        picks.remove(EIGHT[-1])
        assert picks[0] == first(after, session(key))


def test_of_eight_addresses_one_leaves_and_only_its_sessions_move() -> None:
    client = AddressedClient()
    west = upstream(client, name="west")
    west.replicas = Replicas(client, 100)  # type: ignore[arg-type]
    west.follow()
    strategy = choose.build(Services(), Choice("affinity", BY_SESSION))
    group = TargetGroup([west.target("", 1)], strategy)
    addresses = [Address(f"10.0.0.{n}", 80) for n in range(8)]

    def firsts() -> list[str]:
        return [next(iter(group.order(session(key)))).address for key in range(800)]

    client.move({address: Share() for address in addresses})
    before = firsts()
    client.move({address: Share() for address in addresses[:-1]})
    moved = [was for was, now in zip(before, firsts(), strict=True) if was != now]
    assert set(moved) == {"10.0.0.7:80"}
    assert abs(len(moved) / 800 - 1 / 8) < 0.04


def in_flight(group: TargetGroup, counts: list[int]) -> None:
    """Let each target have so many requests in flight."""
    for each_target, count in zip(group.targets, counts, strict=True):
        for observer in each_target.state.observers:
            for _ in range(count):
                observer.began(None)  # type: ignore[arg-type]


def ranked(group: TargetGroup, key: object) -> list[Target]:
    return list(group.picks(session(key)))


def test_a_target_with_more_than_its_load_leaves_requests_to_the_next() -> None:
    group = group_of(["a", "b"], {"by": BY_SESSION, "max_load": 1.5})
    order = ranked(group, 1)
    in_flight(group, [30 if each is order[0] else 10 for each in group.targets])
    assert ranked(group, 1) == order[::-1]  # 31 of 41 are more than 1.5 halves


def test_a_target_within_its_load_keeps_its_sessions() -> None:
    group = group_of(["a", "b"], {"by": BY_SESSION, "max_load": 1.5})
    order = ranked(group, 1)
    in_flight(group, [29 if each is order[0] else 10 for each in group.targets])
    assert ranked(group, 1) == order


def test_of_few_requests_no_share_is_told() -> None:
    group = group_of(["a", "b"], {"by": BY_SESSION, "max_load": 1.1})
    order = ranked(group, 1)
    in_flight(group, [7 if each is order[0] else 0 for each in group.targets])
    assert ranked(group, 1) == order


def test_where_all_are_full_the_first_choice_is_asked() -> None:
    group = group_of(["a", "b"], {"by": BY_SESSION, "max_load": 1.1})
    order = ranked(group, 1)
    in_flight(group, [50, 50])
    assert ranked(group, 1)[0] in order


def chat(value: Any, dialect: Any = None, **more: Any) -> Exchange:
    return new_exchange(value=value, media_type="application/json", dialect=dialect, **more)


@each(
    ("options", "request_of"),
    [
        ("$request.body#/user", lambda key: chat({"user": key})),
        ("$request.body#/metadata/user_id", lambda key: chat({"metadata": {"user_id": key}})),
        ("$request.query.session", lambda key: new_exchange(query=f"session={key}")),
        (
            "$request.path.id",
            lambda key: new_exchange(path=f"/x/{key}", variables={"id": (3, 3 + len(key))}),
        ),
        ({"by": BY_SESSION}, session),
        ({"prompt": 40}, lambda key: chat({"messages": [{"role": "user", "content": key}]})),
        ("agent", session),
        ("agent", lambda key: chat({"prompt_cache_key": key})),
        ({"by": "agent", "max_load": 3}, lambda key: chat({"input": key})),
        (
            {"by": BY_SESSION, "prompt": 40},
            lambda key: chat({"messages": [{"role": "user", "content": key}]}),
        ),
    ],
)
def test_the_key_may_stand_anywhere(options: Any, request_of: Any) -> None:
    group = group_of(EIGHT, options)
    keys = [f"key-{n}" for n in range(200)]
    firsts = {key: first(group, request_of(key)) for key in keys}
    assert all(first(group, request_of(key)) == firsts[key] for key in keys)
    assert set(firsts.values()) == set(EIGHT)


@each(
    "request_of",
    [
        new_exchange,
        lambda: session(""),
        lambda: chat({"user": None}),
        lambda: new_exchange(query="session=a&session=b"),
    ],
)
def test_requests_without_a_key_are_spread(request_of: Any) -> None:
    for options in (BY_SESSION, "$request.body#/user", "$request.query.session", "$request.path.x"):
        dice = random.Random(7).random
        strategy = choose.build(Services(dice=dice), Choice("affinity", options))
        group = TargetGroup([target(Client(), name=name) for name in EIGHT], strategy)
        assert {first(group, request_of()) for _ in range(200)} == set(EIGHT), options


def test_a_number_or_a_list_is_a_key_too() -> None:
    group = group_of(EIGHT, "$request.body#/k")
    assert first(group, chat({"k": 5})) == first(group, chat({"k": 5}))
    assert first(group, chat({"k": {"a": 1, "b": [2]}})) == first(
        group, chat({"k": {"b": [2], "a": 1}})
    )


@pytest.mark.parametrize("options", [{"max_load": 2}, "$request.body#", "user"])
def test_options_without_a_place_are_refused(options: Any) -> None:
    with pytest.raises(ValueError, match=r"affinity needs|is not one of"):
        affinity.read(options)


def test_while_nothing_changes_a_session_meets_the_same_replica() -> None:
    """In a simulation of 400 sessions over eight replicas, with ten requests in flight at each."""
    machine = Machine([Replica(seconds=1.0) for _ in range(8)], Choice("affinity", BY_SESSION))
    dice, requests, served = random.Random(1), [], []

    def exchanges() -> Exchange:
        requests.append(dice.randrange(400))
        return session(requests[-1])

    result = machine.run(20_000, 80, exchanges=exchanges, on_pick=served.append)
    usual = {}
    for key in range(400):
        replicas = Counter(replica for k, replica in zip(requests, served, strict=True) if k == key)
        usual[key] = replicas.most_common(1)[0][0]
    same = sum(usual[key] == replica for key, replica in zip(requests, served, strict=True))
    assert same / len(requests) > 0.99
    assert all(result.share(n) > 0.05 for n in range(8))


def test_a_session_that_asks_much_does_not_overload_its_replica() -> None:
    machine = Machine([Replica(seconds=1.0) for _ in range(8)], Choice("affinity", BY_SESSION))
    result = machine.run(8_000, 160, exchanges=lambda: session("same"))  # 160 in flight
    assert max(result.most_in_flight.values()) <= 2 * 210 / 8
    assert len(result.requests) >= 4  # so many hold them, with twice an eighth each


def test_a_value_too_deep_to_be_written_is_no_key() -> None:
    deep = orjson.loads(b"[" * 1000 + b"]" * 1000)
    group = group_of(EIGHT, "$request.body#/user")
    assert first(group, chat({"user": deep})) in EIGHT


def moves(group: TargetGroup) -> dict[str, dict[str, int]]:
    loads = {each.upstream.name: each.state.load for each in group.targets}
    return {name: dict(load.moves) for name, load in loads.items() if load and load.moves}


def test_a_session_that_moves_is_counted_by_reason() -> None:
    group = group_of(["a", "b", "c"], {"by": BY_SESSION, "max_load": 1.5})
    picks = group.picks(session(1))
    home = next(picks)
    assert moves(group) == {}
    next(picks)  # the first one is not available
    assert moves(group) == {home.upstream.name: {"unavailable": 1}}
    in_flight(group, [60 if each is home else 10 for each in group.targets])
    assert next(group.picks(session(1))) is not home
    assert moves(group) == {home.upstream.name: {"unavailable": 1, "load": 1}}


BILLING = "x-anthropic-billing-header: cc_version=2.1.332.1c9; cch="


def request(body: Any, dialect: str = "openai", **headers: str) -> Exchange:
    environ = {environ_key(name.replace("_", "-")): value for name, value in headers.items()}
    return new_exchange(value=body, dialect=dialects.get(dialect), environ=environ)


@each("name", list(SESSION_HEADERS))
def test_a_header_names_the_session(name: str) -> None:
    body = {"prompt_cache_key": "other", "messages": [{"role": "user", "content": "Hi"}]}
    assert agent_key(request(body, **{name.replace("-", "_"): "s1"})) == "s1"


@each(
    ("body", "key"),
    [
        ({"prompt_cache_key": "a", "user": "b"}, "a"),
        ({"user": "b", "metadata": {"user_id": "c"}}, "b"),
        ({"metadata": {"user_id": "c"}, "messages": [{"role": "user", "content": "Hi"}]}, "c"),
        ({"prompt_cache_key": None, "user": 5, "metadata": [], "input": "Hi"}, "Hi"),
        ({"prompt_cache_key": "", "input": "Hi"}, "Hi"),
        ({}, ""),
        ([], ""),
        (MISSING, ""),
    ],
)
def test_a_member_of_the_body_names_it_without_a_header(body: Any, key: str) -> None:
    assert agent_key(request(body)) == key


def agent_chat(*texts: str) -> Any:
    roles = ["system", "user", *["assistant", "user"] * len(texts)]
    pairs = zip(roles, texts, strict=False)
    return {"messages": [{"role": role, "content": text} for role, text in pairs]}


def messages(*texts: str) -> Any:
    body = agent_chat(*texts)
    system = [{"type": "text", "text": f"{BILLING}{len(texts)};"}, {"type": "text", "text": "Be"}]
    return {"system": system, "messages": body["messages"][1:]}


def responses(*texts: str) -> Any:
    return {"instructions": texts[0], "input": agent_chat(*texts)["messages"][1:]}


def gemini(*texts: str) -> Any:
    contents = [
        {"role": each["role"].replace("assistant", "model"), "parts": [{"text": each["content"]}]}
        for each in agent_chat(*texts)["messages"][1:]
    ]
    return {"systemInstruction": {"parts": [{"text": texts[0]}]}, "contents": contents}


@each(
    ("dialect", "body"),
    [("openai", agent_chat), ("openai", responses), ("anthropic", messages), ("gemini", gemini)],
)
def test_the_turns_of_a_conversation_have_one_key(dialect: str, body: Any) -> None:
    turns = [
        agent_key(request(body("Be kind.", "Hello", *["More"] * count), dialect))
        for count in range(4)
    ]
    assert turns[0] == turns[1] == turns[2] == turns[3]
    assert "Hello" in turns[0]
    other = agent_key(request(body("Be kind.", "Other", "More"), dialect))
    assert other != turns[0]


class Numbers(list[int]):
    """A list that is longer than anybody may read."""

    def __iter__(self) -> Iterator[int]:
        for number in range(1_000_000):
            assert number < 100_000, "a body is read to its end"
            yield number


@each(
    "body",
    [
        {"messages": [{"role": "user", "content": Numbers()}]},
        {"messages": [{"role": "assistant", "content": ""}] * 5 + [{"content": Numbers()}]},
        {"input": Numbers()},
    ],
)
def test_a_body_without_texts_is_not_read_to_its_end(body: Any) -> None:
    """A large one may be all numbers, and nobody else is served meanwhile."""
    assert "4" not in agent_key(request(body))
    assert "4" not in prompt_prefix(request(body), 1_000)
