"""Which credential is next, which are set aside, and how each kind is put on a request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import dialects
from engine.config.upstreams import Credential
from engine.exchange.exchange import Exchange
from engine.upstream.attempt import attempt
from engine.upstream.client.request import UpstreamRequest
from engine.upstream.credentials import APPLY, Credentials
from tests.support.upstreams import Client, target

A, B, C = (Credential("header", "authorization", value) for value in "ABC")


def values(credentials: Credentials, now: float, count: int) -> str:
    """Those that are taken at a moment, `-` for none."""
    taken = [credentials.take(now) for _ in range(count)]
    return "".join(one.value if one else "-" for one in taken)


def test_they_are_used_in_turn() -> None:
    assert values(Credentials([A, B, C]), 0, 7) == "ABCABCA"


def test_one_that_rests_is_left_out_until_its_time() -> None:
    made = Credentials([A, B, C])
    made.rest(B, 10)
    assert values(made, 9.9, 4) == "ACAC"
    assert "B" in values(made, 10, 3)


def test_when_all_rest_there_is_none() -> None:
    made = Credentials([A, B])
    made.rest(A, 10)
    made.rest(B, 7)
    assert values(made, 5, 2) == "--"
    assert made.wait(5) == 2
    assert values(made, 8, 2) == "BB"
    assert made.wait(8) == 0


def test_a_shorter_rest_does_not_end_a_longer_one() -> None:
    made = Credentials([A, B])
    made.rest(A, 60)
    made.rest(A, 1)
    assert values(made, 30, 2) == "BB"


def test_all_are_refused_only_while_each_rests_for_that() -> None:
    made = Credentials([A, B])
    made.rest(A, 60, refused=True)
    made.rest(B, 60)
    assert not made.all_refused(0)
    made.rest(B, 60, refused=True)
    assert (made.all_refused(59), made.all_refused(60)) == (True, False)


@pytest.mark.parametrize("every", [[], [A]])
def test_a_single_one_or_none_is_never_known_to_be_refused(every: list[Credential]) -> None:
    made = Credentials(every)
    for one in every:
        made.rest(one, 60, refused=True)
    assert not made.all_refused(0)


def test_a_single_one_never_rests() -> None:
    made = Credentials([A])
    made.rest(A, 10)
    assert (values(made, 0, 2), made.wait(0)) == ("AA", 0)


def test_an_upstream_may_have_none() -> None:
    made = Credentials([])
    assert not made
    assert (made.take(0), made.wait(5)) == (None, 0)
    assert Credentials([A])


@given(st.lists(st.tuples(st.sampled_from("tr"), st.sampled_from([A, B, C]), st.floats(0, 20))))
def test_none_is_taken_while_it_rests_and_one_is_while_any_is_awake(
    steps: list[tuple[str, Credential, float]],
) -> None:
    made, until, now = Credentials([A, B, C]), dict.fromkeys((A, B, C), 0.0), 0.0
    for step, credential, seconds in steps:
        if step == "r":
            made.rest(credential, now + seconds)
            until[credential] = max(until[credential], now + seconds)
            continue
        now += seconds / 4
        taken = made.take(now)
        awake = {one for one, end in until.items() if end <= now}
        assert taken in awake if awake else taken is None
        assert (made.wait(now) == 0) is bool(awake)


def apply(
    credential: Credential, query: str = "", headers: list[tuple[str, str]] | None = None
) -> UpstreamRequest:
    request = UpstreamRequest("GET", "host", "/x", query, headers or [], None)
    APPLY[credential.kind](credential, request)
    return request


@pytest.mark.parametrize(
    ("credential", "raw", "query"),
    [
        (Credential("header", "x-key", "s"), "a=b", "a=b"),
        (Credential("query", "key", "s"), "", "key=s"),
        (Credential("query", "key", "s"), "a=%20b&c", "a=%20b&c&key=s"),
        (Credential("query", "k y", "s&=/ é"), "", "k%20y=s%26%3D%2F%20%C3%A9"),
    ],
)
def test_a_credential_may_be_a_query_parameter(
    credential: Credential, raw: str, query: str
) -> None:
    assert apply(credential, raw).query == query


@pytest.mark.parametrize("raw", ["k=mine", "a=b&k=mine", "k=mine&k=more"])
def test_a_query_parameter_of_the_caller_does_not_replace_the_credential(raw: str) -> None:
    query = apply(Credential("query", "k", "secret-1"), raw).query
    assert query.count("k=") == 1
    assert query.endswith("k=secret-1")


def test_a_credential_in_a_header_replaces_the_headers_of_its_name() -> None:
    headers = [("x-key", "old"), ("a", "b"), ("x-key", "older")]
    request = apply(Credential("header", "x-key", "new"), headers=headers)
    assert request.headers == [("a", "b"), ("x-key", "new")]


@pytest.mark.parametrize(("query", "target"), [("", "/x"), ("a=b", "/x?a=b")])
def test_a_request_target_has_a_question_mark_only_before_a_query(query: str, target: str) -> None:
    assert UpstreamRequest("GET", "host", "/x", query, [], None).target == target


def test_a_kind_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="'riddle' is no kind of credential"):
        Credentials([Credential("riddle", "x-key", "s")])


def test_a_new_kind_is_one_function_that_gets_the_request_as_it_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def sign(credential: Credential, request: UpstreamRequest) -> None:
        assert isinstance(request.body, bytes)
        sent = (request.method, request.host, request.target, len(request.headers), request.body)
        request.headers.append((credential.name, f"{credential.value} {sent}"))

    monkeypatch.setitem(APPLY, "signature", sign)  # type: ignore[arg-type]
    credential = Credential("signature", "x-signature", "s")
    client = Client(base_path="/base", host="up.example")
    asked = target(client, credentials=[credential])
    exchange = Exchange("POST", "/chat", "a=b", {"HTTP_X_A": "1"})
    headers = asked.upstream.headers(("x-a",))
    attempt(asked, credential, headers, None, exchange, dialects.get("openai"), 9.0)
    [request] = client.sent
    seen = ("POST", "up.example", "/base/chat?a=b", len(request.headers) - 1, b"")
    assert request.header("x-signature") == f"s {seen}"
