"""`modelway top --once` against a server of metrics, and what it says when there are none."""

import pytest
from click.testing import CliRunner

from engine.cli import main
from engine.cli.top.source import Refused, Source, url_of
from tests.support.metrics import Shown
from tests.support.peer import READ, answering, scripted, serving


def answer(text, status="200 OK"):
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()


def top(*arguments):
    return CliRunner().invoke(main, ["top", *arguments])


def test_once_prints_what_happened_in_between():
    shown = Shown()
    before = shown.text()
    for _ in range(4):
        shown.request("gpt-4o-mini")
    with serving(scripted([READ, answer(before), READ, answer(shown.text())])) as peer:
        done = top("--once", "--every", "0.2", "--url", peer.url)
    assert done.exit_code == 0, done.output
    assert "gpt-4o-mini" in done.output
    assert peer.requests[0].startswith(b"GET /metrics HTTP/1.1\r\n")


def test_a_path_in_the_url_is_asked_for():
    with serving(answering(answer(Shown().text()))) as peer:
        Source(f"{peer.url}/own/path").look()
    assert peer.requests[0].startswith(b"GET /own/path HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (answer("", "403 Forbidden"), "add its address to telemetry.allow_ips"),
        (answer("", "404 Not Found"), "there are no metrics at"),
        (answer("<html>"), "has no metrics of Modelway"),
        ("close", "is the gateway running?"),
    ],
)
def test_what_is_wrong_is_said_plainly(said, words):
    with serving(answering(said)) as peer:
        done = top("--once", "--url", peer.url)
    assert done.exit_code == 1
    assert words in done.output


def test_nobody_there_is_said_with_the_address():
    done = top("--once", "--url", "http://127.0.0.1:9/metrics")
    assert done.exit_code == 1
    assert "cannot reach http://127.0.0.1:9/metrics" in done.output


def test_an_address_that_is_none_is_refused():
    with pytest.raises(Refused):
        Source("ftp://x")


def test_without_a_terminal_there_is_no_live_view():
    with serving(answering(answer(Shown().text()))) as peer:
        done = top("--url", peer.url)
    assert done.exit_code == 1
    assert "use --once" in done.output


def test_the_address_comes_from_the_config(tmp_path):
    config = tmp_path / "gateway.yaml"
    for said, words in (
        ("{listen: '127.0.0.1:9', metrics: /m}", "http://127.0.0.1:9/m"),
        ("{listen: public, metrics: /m}", "http://127.0.0.1:8/m"),
        ("{listen: off}", "serves no metrics (telemetry.listen: off)"),
    ):
        config.write_text(f"version: 1\nserver: {{listen: '127.0.0.1:8'}}\ntelemetry: {said}\n")
        done = top("--once", "-c", str(config))
        assert done.exit_code == 1
        assert words in done.output


@pytest.mark.parametrize(
    ("listen", "url"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080/metrics"),
        ("0.0.0.0:80", "http://127.0.0.1:80/metrics"),
        ("[::]:8080", "http://[::1]:8080/metrics"),
        ("gateway:8080", "http://gateway:8080/metrics"),
        ("unix:/run/mw.sock", "http+unix://%2Frun%2Fmw.sock/metrics"),
    ],
)
def test_where_a_gateway_listens_is_where_it_is_asked(listen, url):
    assert url_of(listen, "/metrics") == url
