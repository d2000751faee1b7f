"""`modelway top` beside a gateway that serves."""

import threading

from tests.support.recording import ask, request
from tests.support.running import ALL, modelway

FINE = b'{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}'


def test_once_shows_what_a_gateway_does_by_its_config(platform):
    over = threading.Event()

    def callers():
        while not over.is_set():
            ask(platform.port, request("/v1/chat/completions", FINE, token=ALL))
            over.wait(0.05)

    calling = threading.Thread(target=callers)
    calling.start()
    try:
        result = modelway("top", "--once", "--every", "1.5", "-c", platform.folder / "gateway.yaml")
    finally:
        over.set()
        calling.join()
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    (model,) = [line.split() for line in lines if line.startswith("gpt-4o ")]
    assert float(model[1]) > 1
    assert model[2] == "0%"
    assert "workers 2" in lines[1]
    assert any(line.startswith("openai.createChatCompletion ") for line in lines)


def test_a_missing_gateway_is_reported_in_one_line(platform):
    result = modelway("top", "--once", "--url", "http://127.0.0.1:9")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(
        "Error: cannot reach http://127.0.0.1:9; is the gateway running?"
    )
