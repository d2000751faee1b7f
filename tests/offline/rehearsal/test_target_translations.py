"""What `explain` and `test` show of translated requests: every pair of languages, failover too."""

import json

import pytest

from engine.offline.rehearsal.observation import UpstreamAnswers, request
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import report
from engine.offline.rehearsal.report_text import text
from engine.translations import languages
from engine.values.caller import Caller
from tests.support.translating import CONFIG, MODELS, translating

ALICE = Caller("alice")
TURNS = {"messages": [{"role": "user", "content": "Hi"}]}
REQUESTS = {
    "chat_completions": ("/v1/chat/completions", TURNS),
    "responses": ("/v1/responses", {"input": "Hi", "store": False}),
    "messages": ("/v1/messages", {**TURNS, "max_tokens": 2000}),
    "generate_content": (
        "/v1beta/models/MODEL:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    ),
}
PAIRS = [(caller, target) for caller in REQUESTS for target in REQUESTS if caller != target]


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return translating(tmp_path_factory.mktemp("project"))


def chat(caller, model, *, stream=False, **more):
    path, body = REQUESTS[caller]
    if caller == "generate_content":
        verb = ":streamGenerateContent?alt=sse" if stream else ":generateContent"
        path = path.replace("MODEL", model).replace(":generateContent", verb)
    else:
        body = {**body, "model": model, **({"stream": True} if stream else {})}
    return request("POST", path, (), json.dumps({**body, **more}).encode())


def explained(result, caller_request, answers=None):
    return report(result, rehearse(result.plan, caller_request, ALICE, answers))


def test_every_language_is_tried():
    assert set(REQUESTS) == set(MODELS) == {language.name for language in languages()}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("caller", "target"), PAIRS)
def test_the_translated_request_of_each_pair_is_shown(result, caller, target, stream):
    document = explained(result, chat(caller, MODELS[target], stream=stream))
    assert (document["status"], document["error"]) == (200, None)
    (outgoing,) = document["upstream_requests"]
    expected = {"from": caller, "into": target, "dropped": [], "refusal": None}
    assert outgoing["translation"] == document["targets"][0]["translation"] == expected
    assert outgoing["model"] == document["targets"][0]["model"]
    assert "Hi" in json.dumps(outgoing["body"]["content"])
    lines = text(document)
    assert f"translated from {caller} into {target}" in lines
    assert '"Hi"' in lines


@pytest.mark.parametrize("answer", [200, 400, 429, 503, "connect"])
@pytest.mark.parametrize(("caller", "target"), PAIRS)
def test_answers_of_a_translated_upstream_are_shown(result, caller, target, answer):
    document = explained(result, chat(caller, MODELS[target]), UpstreamAnswers(answer))
    assert document["upstream_requests"][0]["answer"] == answer
    assert document["served"] is (answer == 200)


def test_what_is_refused_is_named_with_the_target(result):
    document = explained(result, chat("chat_completions", "claude-model", logit_bias={"1": 2}))
    assert (document["status"], document["error"]["by"]) == (400, "translation")
    refusal = document["targets"][0]["translation"]["refusal"]
    assert (refusal["code"], refusal["param"]) == ("unsupported_parameter", "logit_bias")
    assert document["upstream_requests"] == []
    words = "cannot be translated into messages: unsupported_parameter at logit_bias"
    assert words in text(document)


def test_what_is_dropped_is_named_with_the_target(result):
    document = explained(result, chat("chat_completions", "lossy-model", logit_bias={"1": 2}))
    assert document["upstream_requests"][0]["translation"]["dropped"] == ["logit_bias"]
    assert "drops logit_bias" in text(document)


def test_a_failover_across_languages_shows_each_target(result):
    answers = UpstreamAnswers(each={"openai": "connect"})
    document = explained(result, chat("chat_completions", "spare-model"), answers)
    assert [outgoing["upstream"] for outgoing in document["upstream_requests"]] == [
        "openai",
        "anthropic",
    ]
    first, second = document["upstream_requests"]
    assert (first["translation"], first["model"]) == (None, "gpt-4o")
    assert (second["translation"]["into"], second["model"]) == ("messages", "claude-sonnet-4-5")


def test_a_target_that_is_never_asked_shows_what_it_would_refuse(result):
    document = explained(result, chat("chat_completions", "spare-model", logit_bias={"1": 2}))
    assert [outgoing["upstream"] for outgoing in document["upstream_requests"]] == ["openai"]
    first, second = (target["translation"] for target in document["targets"])
    assert first is None
    assert second["refusal"]["param"] == "logit_bias"


def test_a_request_that_reaches_no_target_is_not_translated(result):
    caller_request = chat("chat_completions", "claude-model", logit_bias={"1": 2})
    document = report(result, rehearse(result.plan, caller_request))
    assert (document["error"]["by"], document["targets"]) == ("authenticate", [])


def test_two_targets_at_one_upstream_are_told_apart(tmp_path):
    config = CONFIG.replace(
        "  lossy-model:",
        "  both-model: {to: [{upstream: anthropic, model: one}], fallback: [claude-model],"
        " translate: strict}\n  lossy-model:",
    )
    document = explained(
        translating(tmp_path, config), chat("chat_completions", "both-model"), UpstreamAnswers(503)
    )
    assert {outgoing["model"] for outgoing in document["upstream_requests"]} == {
        "one",
        "claude-sonnet-4-5",
    }
    for outgoing in document["upstream_requests"]:
        assert outgoing["body"]["content"]["model"] == outgoing["model"]


def test_an_estimate_of_the_gateways_own_is_said_to_be_one(tmp_path):
    config = CONFIG.replace(
        "anthropic.createMessage", "anthropic.createMessage, anthropic.countTokens"
    )
    result = translating(tmp_path, config)
    for model, estimated in (("gemini-model", "tokens"), ("claude-model", None)):
        body = json.dumps({**TURNS, "model": model}).encode()
        sent = request("POST", "/v1/messages/count_tokens", (), body)
        document = explained(result, sent)
        assert (document["status"], document["estimate"]) == (200, estimated)
        assert ("the gateway's estimate of tokens" in text(document)) == bool(estimated)


def test_a_body_on_disk_is_translated(result):
    turns = [{"role": "user", "content": "x" * 1_500_000}]
    document = explained(result, chat("chat_completions", "claude-model", messages=turns))
    assert document["status"] == 200
    assert document["upstream_requests"][0]["translation"]["into"] == "messages"
    assert len(text(document, brief=True)) < 10_000


def test_a_long_line_of_a_translated_body_is_cut_in_a_brief_text_only(result):
    message = {"role": "user", "content": "a long text " * 100}
    document = explained(result, chat("chat_completions", "claude-model", messages=[message]))
    assert message["content"] in text(document)
    assert message["content"] not in text(document, brief=True)
    assert " characters)" in text(document, brief=True)
