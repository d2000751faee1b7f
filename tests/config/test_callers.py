import json
from pathlib import Path

import pytest

from engine.config.callers import ALGORITHMS
from engine.config.load import load
from engine.source.problem import Findings
from tests.support.signed_tokens import issuers, key_set

ISSUER = "issuer: 'https://login.example.com/', audience: modelway"


def problems(entry: str, folder: Path = Path()) -> list[str]:
    findings = Findings()
    load(f"version: 1\ncallers: {{jwt: [{entry}]}}", "g.yaml", folder, {}, findings)
    return [problem.message for problem in findings.errors if "missing" not in problem.message]


def test_an_issuer_has_its_keys_by_discovery():
    (issuer,) = issuers(f"{{{ISSUER}}}")
    assert issuer.discovery == "https://login.example.com/.well-known/openid-configuration"
    assert issuer.algorithms == ALGORITHMS
    assert (issuer.leeway, issuer.rights.name) == (30.0, "login.example.com:")
    assert issuer.claims["name"].text == "sub"


def test_the_urls_and_the_file_of_keys(tmp_path):
    (issuer,) = issuers(f"{{{ISSUER}, jwks: 'https://a.example/keys'}}")
    assert (issuer.jwks, issuer.discovery) == ("https://a.example/keys", "")
    (issuer,) = issuers(f"{{{ISSUER}, discovery: 'http://localhost:80/x'}}")
    assert issuer.discovery == "http://localhost:80/x"
    (tmp_path / "keys.json").write_text(json.dumps({"keys": key_set()}))
    assert problems(f"{{{ISSUER}, jwks_file: keys.json}}", tmp_path) == []


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (f"{{{ISSUER}, jwks: 'http://a.example/k'}}", "can be changed on their way"),
        ("{issuer: 'http://a.example', audience: x}", "can be changed on their way"),
        ("{issuer: accounts.example, audience: x}", "is not a URL of the issuer's keys"),
        (f"{{{ISSUER}, jwks_file: absent.json}}", "there is no file 'absent.json'"),
        (f"{{{ISSUER}, sample: absent.jwt}}", "there is no file 'absent.jwt'"),
        (
            f"{{{ISSUER}, jwks: 'https://a.example/k', discovery: 'https://a.example/d'}}",
            "`jwks` says where the keys are",
        ),
        (f"{{{ISSUER}, claims: {{team: 'a['}}}}", "'a[' is not the place of a claim"),
        (f"{{{ISSUER}, require: {{'a[': x}}}}", "'a[' is not the place of a claim"),
        (f"{{{ISSUER}, algorithms: [HS256]}}", "RS256"),
        (f"{{{ISSUER}, budget: 5 EUR/1d}}", "EUR"),
        (f"{{{ISSUER}, leeway: 1h}}", "long after their end"),
        (f"{{{ISSUER}, jwks: 'https://[a/k'}}", "is not a URL of the issuer's keys"),
        (f"{{{ISSUER}, jwks: 'https://a.example:99999/k'}}", "is not a URL of the issuer's keys"),
        (f"{{{ISSUER}, jwks: 'https:///k'}}", "is not a URL of the issuer's keys"),
        (f"{{{ISSUER}, jwks: 'https://me:pw@a.example/k'}}", "no user, password or fragment"),
        ("{issuer: 'https://[a', audience: x}", "is not a URL of the issuer's keys"),
    ],
)
def test_problems(entry, problem):
    assert any(problem in message for message in problems(entry))


def test_an_issuer_without_an_audience_is_refused():
    findings = Findings()
    text = "version: 1\ncallers: {jwt: [{issuer: 'https://a.example'}]}"
    load(text, "g.yaml", Path(), {}, findings)
    assert any("'audience' is missing" in problem.message for problem in findings.errors)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no", "'keys.json' cannot be read as JSON"),
        ("[]", "'keys.json' has no public keys"),
        ('{"keys": 1}', "'keys.json' has no public keys"),
        ('{"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}', "'keys.json' has a secret key"),
    ],
)
def test_problems_of_a_file_of_keys(tmp_path, text, problem):
    (tmp_path / "keys.json").write_text(text)
    found = problems(f"{{{ISSUER}, jwks_file: keys.json}}", tmp_path)
    assert any(problem in message for message in found)


OTHER = "{issuer: 'https://login.example.com/realms/b', audience: modelway%s}"


@pytest.mark.parametrize(
    ("first", "second", "is_refused"),
    [
        ("", "", True),
        ("", ", prefix: 'b:'", False),
        (", prefix: 'a'", ", prefix: 'a:b:'", True),
        (", prefix: 'a:b:'", ", prefix: a", True),
        ("", ", prefix: ''", True),
    ],
)
def test_callers_of_two_issuers_never_have_one_name(first, second, is_refused):
    found = problems(f"{{{ISSUER}{first}}}, {OTHER % second}")
    assert any("one could be taken for the other" in message for message in found) is is_refused


def test_entries_of_one_issuer_may_have_the_same_names():
    assert problems(f"{{{ISSUER}, require: {{a: b}}}}, {{{ISSUER}}}") == []


@pytest.mark.parametrize("prefix", ["", ", prefix: ''", ", prefix: lo"])
def test_a_token_never_has_the_name_of_a_bearer(prefix):
    findings = Findings()
    token = "{name: 'login.example.com:ada', sha256: " + "1a" * 32 + "}"
    text = f"version: 1\ntokens: [{token}]\ncallers: {{jwt: [{{{ISSUER}{prefix}}}]}}"
    load(text, "g.yaml", Path(), {}, findings)
    assert [each.code for each in findings.errors if "begin" in each.message] == ["MW107"]
