"""One vendor's request for embeddings at another's upstream: bytes in, bytes out.

A file of `tests/cases/translations/embeddings/` names the `caller` and the `target` and what is
translated: a `request` to what the target gets at `path` (`written`, with the fields that were
`dropped`, or the one that is `refused` with its `code`), or an `answer` to what the caller gets
(`result`, or the `error`). JSON is compared with its order and the text of its numbers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine import translations
from engine.translations import AnyExchange
from engine.translations.neutral.events import BrokenAnswer, UpstreamError
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.values.errors import GatewayError
from engine.values.wildcard import Patterns
from tests.support import yaml_text
from tests.support.translations import CASES, usage_in

Case = dict[str, Any]


def _load(file: Path) -> Case:
    return yaml_text.load(file.read_text("utf-8"))  # type: ignore[no-any-return]


CASE_FILES = {file.stem: _load(file) for file in sorted((CASES / "embeddings").glob("*.yaml"))}


def _with(member: str) -> list[object]:
    return [pytest.param(case, id=name) for name, case in CASE_FILES.items() if member in case]


def _translate(case: Case, rules: LossRules | None = None) -> AnyExchange:
    translation = translations.translation(case["caller"], case["target"])
    line = RequestLine(model="alias")
    return translation.request(case["request"].encode(), line, "m", rules or LossRules())


def _exact(text: str | bytes) -> Any:
    """The JSON of a text as lists of members, with the text of its numbers."""
    return json.loads(text, object_pairs_hook=list, parse_float=str, parse_int=str)


@pytest.mark.parametrize("case", _with("written"))
def test_a_request_is_written_for_the_target(case: Case) -> None:
    exchange = _translate(case)
    assert _exact(exchange.target_request.body) == _exact(case["written"])
    assert exchange.target_request.path == case["path"]
    assert exchange.dropped == case["dropped"]


@pytest.mark.parametrize("case", _with("refused"))
def test_a_request_that_cannot_be_carried_names_the_field(case: Case) -> None:
    with pytest.raises(GatewayError) as excinfo:
        _translate(case)
    error = excinfo.value
    assert (error.status, error.code, error.param) == (400, case["code"], case["refused"])


@pytest.mark.parametrize("case", _with("answer"))
def test_an_answer_is_written_for_the_caller(case: Case) -> None:
    exchange = _translate(case)
    if "error" in case:
        with pytest.raises((BrokenAnswer, UpstreamError), match=case["error"]):
            exchange.answer(case["answer"].encode())
    else:
        answer = case["answer"].encode()
        usage = usage_in(exchange.translation.target, answer)
        assert _exact(exchange.answer(answer, usage)) == _exact(case["result"])


@pytest.mark.parametrize(
    "rules", [LossRules(lossy=True), LossRules(drop=Patterns(("requests.outputDimensionality",)))]
)
def test_what_may_be_dropped_is_named(rules: LossRules) -> None:
    exchange = _translate(CASE_FILES["batch-openai-refused-lengths"], rules)
    written = '{"model": "m", "input": ["fox", "dog"], "dimensions": 8}'
    assert _exact(exchange.target_request.body) == _exact(written)
    assert exchange.dropped == ["requests.outputDimensionality"]


def test_every_language_has_a_case_with_every_other_vendor() -> None:
    pairs = {(case["caller"], case["target"]) for case in CASE_FILES.values()}
    assert {("embeddings", "batch_embed_contents"), ("batch_embed_contents", "embeddings")} <= pairs
    assert {("embeddings", "embed_content"), ("embed_content", "embeddings")} <= pairs
