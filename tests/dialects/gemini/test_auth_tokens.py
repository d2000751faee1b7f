"""Ephemeral tokens of Gemini: what a request says, and what a session by one may do."""

import pytest

from engine.dialects.gemini.auth_tokens import AUTH_TOKENS
from engine.dialects.interface.client_secrets import IssuedSecret
from engine.values.errors import GatewayError
from tests.support.each import each

NOW = 1_767_225_600.0  # 2026-01-01T00:00:00Z
SETUP = {
    "model": "models/live",
    "generationConfig": {"temperature": 0.5, "responseModalities": ["TEXT"]},
    "sessionResumption": {},
}
OWN = {
    "model": "models/other",
    "generationConfig": {"temperature": 2, "topK": 3},
    "systemInstruction": {"parts": [{"text": "x"}]},
    "sessionResumption": {"handle": "h"},
}


def test_a_token_is_for_one_session_that_begins_within_a_minute():
    request = AUTH_TOKENS.read({}, NOW)
    assert request == ("", 1_800, {"begin": NOW + 60, "end": NOW + 1_800, "uses": 1})
    assert AUTH_TOKENS.owns(request.session)
    assert not AUTH_TOKENS.owns({"type": "realtime"})


def test_a_request_says_for_how_long_how_often_and_for_what():
    body = {
        "uses": 0,
        "expireTime": "2026-01-01T02:00:00Z",
        "newSessionExpireTime": "2026-01-01T01:00:00.5+00:00",
        "bidiGenerateContentSetup": SETUP,
        "fieldMask": "model, generationConfig.temperature",
    }
    assert AUTH_TOKENS.read(body, NOW) == (
        "live",
        7_200,
        {
            "begin": NOW + 3_600.5,
            "end": NOW + 7_200,
            "uses": 0,
            "setup": SETUP,
            "mask": ["model", "generationConfig.temperature"],
        },
    )


@each(
    ("body", "param"),
    [
        ({"uses": -1}, "uses"),
        ({"uses": True}, "uses"),
        ({"expireTime": "soon"}, "expireTime"),
        ({"expireTime": "2025-12-31T23:59:59Z"}, "expireTime"),
        ({"expireTime": "2026-01-01T20:00:01Z"}, "expireTime"),
        ({"newSessionExpireTime": 3}, "newSessionExpireTime"),
        ({"fieldMask": ["a"]}, "fieldMask"),
        ({"fieldMask": "a." * 5_000 + "a"}, "fieldMask"),
        ({"fieldMask": "a," * 101}, "fieldMask"),
        ({"bidiGenerateContentSetup": "x"}, "bidiGenerateContentSetup"),
        ({"bidiGenerateContentSetup": {"model": 3}}, "bidiGenerateContentSetup.model"),
    ],
)
def test_a_request_that_cannot_be_met(body, param):
    with pytest.raises(GatewayError) as excinfo:
        AUTH_TOKENS.read(body, NOW)
    assert (excinfo.value.status, excinfo.value.param) == (400, param)


def test_the_name_is_the_token():
    secret = IssuedSecret("ek_x", 0, "", {}, "req_1")
    assert AUTH_TOKENS.write(secret) == {"name": "auth_tokens/ek_x"}


@each(
    ("session", "expected"),
    [
        ({}, OWN),
        ({"setup": SETUP}, {**SETUP, "sessionResumption": {"handle": "h"}}),
        ({"setup": {"tools": []}}, {"tools": [], "model": "models/other"}),
        (
            {"setup": SETUP, "mask": ["model", "generationConfig.temperature", "tools"]},
            {
                **OWN,
                "model": "models/live",
                "generationConfig": {"temperature": 0.5, "topK": 3},
            },
        ),
        (
            {"mask": ["generationConfig.temperature", "systemInstruction"]},
            {
                "model": "models/other",
                "generationConfig": {"topK": 3},
                "sessionResumption": {"handle": "h"},
            },
        ),
    ],
)
def test_the_setup_of_a_token_replaces_what_is_locked(session, expected):
    assert AUTH_TOKENS.first(session, {"setup": OWN}) == {"setup": expected}


def test_a_locked_field_has_one_spelling():
    own = {"generation_config": {"temperature": 2}}
    session = {"setup": SETUP, "mask": ["generationConfig.temperature"]}
    assert AUTH_TOKENS.first(session, {"setup": own}) == {
        "setup": {"generationConfig": {"temperature": 0.5}}
    }


@each(
    ("setup", "resumes"),
    [
        ({"sessionResumption": {"handle": "h"}}, True),
        ({"session_resumption": {"handle": "h"}}, True),
        ({"sessionResumption": {}}, False),
        ({}, False),
    ],
)
def test_a_session_that_goes_on_has_a_handle(setup, resumes):
    assert AUTH_TOKENS.resumes({"setup": setup}) is resumes
