"""A request as a caller would send it, and what is known after its rehearsal."""

import pytest

from engine.offline.rehearsal.observation import (
    Rehearsal,
    Request,
    SentRequest,
    Step,
    UpstreamAnswers,
    request,
)
from engine.offline.rehearsal.target_translations import TargetTranslation
from engine.translations.neutral.language import TargetRequest
from engine.values.errors import GatewayError

GET = Request("GET", "/")
JSON = ("content-type", "application/json")
REFUSAL = GatewayError(400, "code", "message")


@pytest.mark.parametrize("body", [b'{"a": 1}', b" [", b"{broken", b"3", b'"text"'])
def test_json_and_what_begins_like_it_gets_its_content_type(body):
    assert request("POST", "/", (), body).headers == (JSON,)


@pytest.mark.parametrize(
    ("headers", "body"),
    [((), b""), ((), b"a=1"), ((("Content-Type", "text/plain"),), b"{}")],
)
def test_other_bodies_keep_their_headers(headers, body):
    assert request("POST", "/", headers, body).headers == headers


def test_upstreams_answer_alike_but_for_those_that_are_named():
    answers = UpstreamAnswers(503, {"main": "timeout"})
    assert (answers.of("main"), answers.of("spare")) == ("timeout", 503)


def test_the_step_that_did_not_pass_refused_the_request():
    steps = [Step("authenticate", True), Step("validate")]
    rehearsal = Rehearsal(GET, steps=steps, error=REFUSAL)
    assert rehearsal.refused_by == "validate"
    assert not rehearsal.reached_targets
    assert rehearsal.step("validate") is steps[1]
    assert rehearsal.step("limit") is None


def test_an_error_of_the_upstream_is_no_refusal():
    rehearsal = Rehearsal(GET, steps=[Step("limit", True)], error=REFUSAL)
    assert rehearsal.refused_by == ""
    assert rehearsal.reached_targets


TARGET_REQUEST = TargetRequest(b"{}", "/v1/messages")
CHAT_TO_MESSAGES = ("chat_completions", "messages")


def sent_request(upstream="main", url="http://main.test/v1/messages?key=x", body=b"{}"):
    return SentRequest(upstream, "POST", url, (), body, 200)


def test_a_sent_request_is_known_as_the_result_of_a_translation():
    translation = TargetTranslation("main", "m", *CHAT_TO_MESSAGES, target_request=TARGET_REQUEST)
    rehearsal = Rehearsal(GET, translations=[None, translation])
    assert rehearsal.translation(sent_request()) is translation


@pytest.mark.parametrize(
    "other",
    [
        sent_request("spare"),
        sent_request(url="http://main.test/v1/chat"),
        sent_request(body=b"{ }"),
    ],
)
def test_another_request_is_not(other):
    translation = TargetTranslation("main", "m", *CHAT_TO_MESSAGES, target_request=TARGET_REQUEST)
    assert Rehearsal(GET, translations=[translation]).translation(other) is None


@pytest.mark.parametrize(
    ("others", "refused_by"), [([], "translation"), ([None], ""), ([TARGET_REQUEST], "")]
)
def test_a_request_is_refused_by_translation_if_no_target_can_get_it(others, refused_by):
    refused = TargetTranslation("main", "m", *CHAT_TO_MESSAGES, refusal=REFUSAL)
    more = [
        target_request
        and TargetTranslation("spare", "m", *CHAT_TO_MESSAGES, target_request=target_request)
        for target_request in others
    ]
    steps = [Step("limit", True)]
    rehearsal = Rehearsal(GET, steps=steps, error=REFUSAL, translations=[refused, *more])
    assert rehearsal.refused_by == refused_by
