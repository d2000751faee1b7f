from pathlib import Path

import pytest

from engine.config.callers import ALGORITHMS
from engine.config.load import load
from engine.source.problem import Findings
from tests.support.signed_tokens import issuers

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
    (tmp_path / "keys.json").write_text("{}")
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
    ],
)
def test_problems(entry, problem):
    assert any(problem in message for message in problems(entry))


def test_an_issuer_without_an_audience_is_refused():
    findings = Findings()
    text = "version: 1\ncallers: {jwt: [{issuer: 'https://a.example'}]}"
    load(text, "g.yaml", Path(), {}, findings)
    assert any("'audience' is missing" in problem.message for problem in findings.errors)
