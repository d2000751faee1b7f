"""What the results of probes mean, and which body of a health page ends."""

from __future__ import annotations

from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.upstream.client import failures
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.health.probe_result import HEALTHY, of_body, of_failure, reason
from tests.support.each import each
from tests.support.upstreams import FakeResponse, failure

PART = b"x" * 65_536
ENDLESS = "the body of the answer did not end within the timeout of the probe"


@each(
    "body, error",
    [
        ([PART] * 60, ""),
        ([PART] * 1000, "the body of the answer is longer than 4 MB"),
        ([PART, failure(failures.TotalTimeout)], ENDLESS),
        ([failure(failures.IdleTimeout)], failures.IdleTimeout.words),
        ([PART, failure(failures.Truncated)], failures.Truncated.words),
    ],
)
def test_a_body_has_to_end(body: list[bytes | float | UpstreamFailure], error: str) -> None:
    response = FakeResponse(200, body=body)
    assert reason(of_body(response)) == error
    assert len(response.pieces) >= len(body) - 62  # it is not read on


def test_each_failure_has_words_of_its_own() -> None:
    classes = [
        *(failures.ConnectFailed, failures.ConnectTimeout, failures.FirstByteTimeout),
        *(failures.HeadersTooLarge, failures.ProtocolFailure, failures.Reset),
        *(failures.IdleTimeout, failures.Truncated),
    ]
    for each_class in classes:
        assert reason(of_failure(each_class("10.0.0.1"))) == each_class.words
    assert (
        reason(of_failure(failures.TotalTimeout())) == "no answer within the timeout of the probe"
    )
    refusal = CredentialUnavailable("it has expired", "/run/token")
    assert reason(of_failure(refusal)) == "there is no credential for the probe"


def test_a_status_and_success_are_results() -> None:
    assert (reason(503.0), reason(HEALTHY)) == ("status 503", "")


def test_results_of_another_version_of_the_program_have_words() -> None:
    assert reason(-99.0) == "no complete answer"
