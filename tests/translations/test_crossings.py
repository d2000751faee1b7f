"""One language's caller at another language's upstream: bytes in, bytes out.

A file of `tests/cases/translations/crossings/` names the `caller` and the `target` and what is
translated: a `request` to what the target gets (`written`, with the fields that were `dropped` or
the one that is `refused`), or an upstream's `stream` or `answer` to what the caller gets (`result`,
and the `error` that breaks it off); `pieces` are those in which the network delivers a stream. JSON
is compared with its order and the text of its numbers.
`defect` is the number, or a list of them, of defects that other gateways have (`README.md`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.translations import language, target_language
from engine.translations.neutral.events import BrokenAnswer, UpstreamError
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import TranslatedExchange, Translation
from engine.values.errors import GatewayError
from tests.support import yaml_text
from tests.support.translations import CASES, event_data, relayed, translated_events, usage_in

Case = dict[str, Any]

_LINE = RequestLine(id="req1", time=1_700_000_000)
_REQUESTS = {
    "chat_completions": '{"model":"alias","messages":[{"role":"user","content":"Hi"}]}',
    "responses": '{"model":"alias","input":"Hi","store":false}',
    "messages": '{"model":"alias","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],'
    '"thinking":{"type":"adaptive"}}',
    "generate_content": '{"contents":[{"parts":[{"text":"Hi"}]}]}',
}
"""What a caller has asked of whom only the answer matters."""


def _load(file: Path) -> Case:
    return yaml_text.load(file.read_text("utf-8"))  # type: ignore[no-any-return]


def _files(member: str) -> list[object]:
    files = sorted((CASES / "crossings").glob("*.yaml"))
    return [pytest.param(_load(file), id=file.stem) for file in files if member in _load(file)]


def _translate(case: Case) -> TranslatedExchange:
    translation = Translation(language(case["caller"]), target_language(case["target"]))
    request = case.get("request", _REQUESTS[case["caller"]])
    return translation.request(request.encode(), _LINE, case.get("model", "m"), LossRules())


def _exact(text: str | bytes) -> Any:
    """The JSON of a text as lists of members, with the text of its numbers."""
    return json.loads(text, object_pairs_hook=list, parse_float=str, parse_int=str)


@pytest.mark.parametrize("case", _files("written"))
def test_a_request_is_written_for_the_target(case: Case) -> None:
    exchange = _translate(case)
    assert _exact(exchange.target_request.body) == _exact(case["written"])
    assert exchange.dropped == case.get("dropped", [])


@pytest.mark.parametrize("case", _files("refused"))
def test_a_request_that_cannot_be_carried_names_the_field(case: Case) -> None:
    with pytest.raises(GatewayError) as excinfo:
        _translate(case)
    assert (excinfo.value.status, excinfo.value.param) == (400, case["refused"])


@pytest.mark.parametrize("case", _files("answer"))
def test_an_answer_is_written_for_the_caller(case: Case) -> None:
    exchange = _translate(case)
    if "error" in case:
        with pytest.raises((BrokenAnswer, UpstreamError), match=case["error"]):
            exchange.answer(case["answer"].encode())
    else:
        answer = case["answer"].encode()
        usage = usage_in(exchange.translation.target, answer)
        assert _exact(exchange.answer(answer, usage)) == _exact(case["result"])


@pytest.mark.parametrize("case", _files("stream"))
def test_a_stream_is_written_for_the_caller(case: Case) -> None:
    exchange = _translate(case)
    exchange.request.stream = True
    output = b""
    try:
        for events in translated_events(exchange, event_data(case["stream"].encode())):
            output += events
        error = None
    except (BrokenAnswer, UpstreamError) as broken:
        error = str(broken)
    assert output.decode().rstrip() == case["result"].rstrip()
    assert error == case.get("error")


@pytest.mark.parametrize("case", _files("pieces"))
def test_a_stream_in_pieces_is_written_for_the_caller(case: Case) -> None:
    exchange = _translate(case)
    exchange.request.stream = True
    output, failure = relayed(exchange, [piece.encode() for piece in case["pieces"]])
    assert output.decode().rstrip() == case["result"].rstrip()
    assert failure is None
