"""Webhooks are checked with what calls them and signs; tests/cases/configs has the messages."""

from engine.plan.webhook_checks import check_webhooks
from engine.source.problem import Findings
from tests.support.configs import read_config
from tests.support.each import each

SECRET = "whsec_" + "a2V5" * 8


def codes(url="https://a.test", secret=SECRET):
    findings = Findings()
    config = read_config(f"webhooks: {{a: {{url: '{url}', secret: {secret}}}}}\n")
    check_webhooks(config, findings)
    for problem in findings.errors:
        assert "s3cret" not in f"{problem.message}{problem.hint}"
    return [problem.code for problem in findings.errors]


@each(
    "url,expected",
    [
        ("https://a.test/x?sig=a%20b", []),
        ("http+unix:///run/hook.sock", []),
        ("https://user:s3cret@a.test", ["MW513"]),
        ("https://a.test/x#s3cret", ["MW513"]),
        ("https://a.test/x?a=s3cret#b", ["MW513"]),
        ("https://a.test:99999", ["MW513"]),
    ],
)
def test_a_url_must_be_one_that_can_be_called(url, expected):
    assert codes(url) == expected


@each("secret,expected", [("s3cret", ["MW514"]), (f"[{SECRET}, whsec_s3cret]", ["MW514"])])
def test_every_secret_must_have_its_form(secret, expected):
    assert codes(secret=secret) == expected
