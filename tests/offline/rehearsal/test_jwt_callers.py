"""Callers of other issuers in `explain` and `test`: by claims that nobody has verified."""

import pytest

from engine.callers.jwt.refusal import TokenRefused
from engine.exchange.internal_request import Request
from engine.offline.rehearsal.jwt_callers import UnverifiedTokens, caller_of_claims
from engine.offline.rehearsal.rehearse import rehearse
from engine.source.problem import Findings
from tests.support.judged_cases import CHAT, read_cases, result_of
from tests.support.rehearsing import CONFIG, planned
from tests.support.signed_tokens import NOW, claims, ec_key, token

MORE = """
teams: {all: {models: [big, small]}, search: {in: all, models: [small], rate: 9/1h}}
callers:
  jwt:
    - issuer: https://login.example.com/
      audience: modelway
      claims: {team: "groups[0]"}
      require: {groups: "*"}
      revoked: ["7"]
"""
LIMIT = "rate_limit: {requests: 60, per: 1m"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    text = CONFIG.replace(LIMIT, f"{LIMIT}, by: {{claim: tenant}}") + MORE
    return planned(tmp_path_factory.mktemp("jwt"), text)


def of(**changes):
    return claims(**{"groups": ["search"], "tenant": "acme"} | changes)


def test_claims_make_the_caller_that_a_token_with_them_has(project):
    caller = caller_of_claims(project.plan, of(exp=NOW - 99))
    assert (caller.name, caller.team) == ("login.example.com:ada", "search")
    assert [team.name for team in caller.teams] == ["search", "all"]
    assert caller.claims == {"tenant": "acme"}
    assert caller.expires > NOW


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"aud": "x"}, "audience"), ({"groups": None}, "required"), ({"jti": "7"}, "revoked")],
)
def test_claims_that_the_config_refuses_make_none(project, changes, reason):
    with pytest.raises(TokenRefused, match=reason):
        caller_of_claims(project.plan, of(**changes))


def test_a_token_in_a_header_is_taken_unverified_and_the_report_says_so(project):
    secret = token(of(exp=NOW - 99), key=ec_key(1))
    headers = (("authorization", f"Bearer {secret}"), ("content-type", "application/json"))
    body = b'{"model": "small", "messages": [{}]}'
    rehearsal = rehearse(project.plan, Request("POST", "/v1/chat", headers, body))
    assert rehearsal.status == 200
    assert [limit.key.rpartition("|")[2] for limit, _ in rehearsal.limits] == ["acme", "search"]
    assert "signature and age of the token are not judged" in rehearsal.log[0]
    assert secret not in str(rehearsal.log)


def test_what_is_no_token_has_no_caller(project):
    with pytest.raises(TokenRefused):
        UnverifiedTokens(project.plan).caller("eyJ.eyJ.eyJ")


@pytest.mark.parametrize(
    ("model", "expect"),
    [
        ("small", {"status": 200, "token": "login.example.com:ada"}),
        ("big", {"status": 403, "error": "model_not_allowed"}),
    ],
)
def test_a_case_has_the_rights_of_its_claims(project, model, expect):
    request = {**CHAT["request"], "claims": of(), "body": {"model": model, "messages": [{}]}}
    del request["token"]
    assert result_of(project, expect, request=request).failures == []


def test_a_case_with_claims_that_are_refused_has_no_token(project):
    request = {**CHAT["request"], "claims": of(aud="x")}
    del request["token"]
    result = result_of(project, {"status": 401, "error": "invalid_api_key"}, request=request)
    assert result.failures == []
    assert "another audience" in result.warnings[0]


def test_a_case_has_a_token_or_claims(project):
    findings = Findings()
    assert (
        read_cases(
            project,
            findings,
            {**CHAT, "request": {**CHAT["request"], "claims": {}}, "expect": {"status": 200}},
        )
        == []
    )
    assert [problem.code for problem in findings.problems] == ["MW105"]
