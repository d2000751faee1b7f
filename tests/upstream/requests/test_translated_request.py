"""Which requests of a route are translated, and what a target of another language gets."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from engine.config.model_operation import ModelOperation
from engine.exchange.exchange import Exchange
from engine.exchange.request_body import Body
from engine.upstream.requests.translated_request import (
    RouteTranslations,
    TranslatedRequests,
    TranslationTables,
    translated_request,
)
from engine.upstream.targets.target import Target
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange
from tests.support.upstreams import Client, upstream

CHAT = ModelOperation("openai.chat", "openai", "/chat/completions", "chat_completions")
STREAM = ModelOperation(
    "gemini.stream", "gemini", "/models/{model}:streamGenerateContent", "generate_content"
)
EMBEDDINGS = ModelOperation("openai.embed", "openai", "/embeddings")
MODEL = SimpleNamespace(translate="strict", drop=("seed",))
"""As much of a configured model as translating needs."""


class Operations:
    """Targets of Anthropic's dialect need a translation, those of others do not."""

    def dialects(self, entry: str) -> frozenset[str]:
        return frozenset({"anthropic", "gemini", "openai"})

    def kind(self, operation: ModelOperation) -> object:
        return operation.id

    def language(self, entry: str, dialect: str, operation: ModelOperation) -> str | None:
        return "messages" if dialect == "anthropic" else ""


def route(
    operation: ModelOperation = CHAT, summaries: Any = None, **model: Any
) -> RouteTranslations:
    models: Any = {"alias": SimpleNamespace(**vars(MODEL) | model)}
    operations: Any = Operations()
    tables = TranslationTables(operations, models)
    return RouteTranslations(operation, tables, lambda: 1_700_000_000.5, summaries)


def target(dialect: str = "anthropic", model: str = "claude-sonnet-4-5") -> Target:
    new_upstream = upstream(Client(base_path="/v1"), dialect=dialect)
    return new_upstream.target(model, 1, entry="alias")


def chat(media_type: str = "application/json", **more: Any) -> Exchange:
    body = {"model": "alias", "messages": [{"role": "user", "content": "Hi"}], **more}
    return new_exchange(body=Body(json.dumps(body).encode()), media_type=media_type, model="alias")


def test_targets_of_equal_entry_upstream_and_model_share_a_translation() -> None:
    there = upstream(Client(base_path="/v1"), dialect="anthropic")
    names = ("claude-sonnet-4-5", "claude-sonnet-4-5", "claude-opus-4-1")
    targets = [there.target(name, 1, entry="alias") for name in names]
    requests = TranslatedRequests(route(), chat())
    assert all(map(requests.carries, targets))
    first, second, other = (requests.translated(each) for each in targets)
    assert first is second
    assert other is not None
    assert other is not first
    assert json.loads(other.target_request.body)["model"] == "claude-opus-4-1"


def test_a_target_of_another_dialect_gets_a_translated_request() -> None:
    there = target()
    exchange = chat(stream=True)
    translated = route().translate(exchange, there)
    assert translated is not None
    request = translated_request(there, exchange, translated)
    assert (request.method, request.target) == ("POST", "/v1/messages")
    headers = dict(request.headers)
    assert headers["content-type"] == "application/json"
    assert headers["anthropic-version"] == "2023-06-01"
    assert isinstance(request.body, bytes)
    body = json.loads(request.body)
    assert (body["model"], body["stream"]) == ("claude-sonnet-4-5", True)


def test_the_requested_name_is_sent_to_a_target_without_its_own() -> None:
    translated = route().translate(chat(), target(model=""))
    assert translated is not None
    assert json.loads(translated.target_request.body)["model"] == "alias"


def test_a_target_of_the_callers_dialect_gets_the_request_as_it_is() -> None:
    assert route().translate(chat(), target("openai")) is None


def test_an_operation_that_is_no_chat_has_no_translations() -> None:
    assert route()
    assert not route(EMBEDDINGS)


def test_a_stream_may_be_wanted_by_the_path() -> None:
    exchange = new_exchange(
        body=Body(b'{"contents":[{"parts":[{"text":"Hi"}]}]}'),
        media_type="application/json",
        model="alias",
    )
    translated = route(STREAM).translate(exchange, target())
    assert translated is not None
    assert translated.request.stream
    assert translated.request.time == 1_700_000_000


def test_fields_are_refused_or_dropped_as_the_model_says() -> None:
    with pytest.raises(GatewayError) as excinfo:
        route().translate(chat(seed=1, logit_bias={"1": 2}), target())
    assert (excinfo.value.status, excinfo.value.param) == (400, "logit_bias")
    translated = route(translate="lossy").translate(chat(seed=1, logit_bias={"1": 2}), target())
    assert translated is not None
    assert sorted(translated.dropped) == ["logit_bias", "seed"]


def test_a_refusal_is_kept_without_the_frames_that_refer_to_the_request() -> None:
    there, exchange = target(), chat(logit_bias={"1": 2})
    requests = TranslatedRequests(route(), exchange)
    assert not requests.carries(there)
    refusal = requests.refusal([there])
    assert refusal is not None
    assert (refusal.__traceback__, refusal.__cause__, refusal.__context__) == (None, None, None)


def test_a_target_without_a_translation_can_have_every_request() -> None:
    requests = TranslatedRequests(route(), chat(logit_bias={"1": 2}))
    assert requests.carries(target("openai"))
    assert requests.translated(target("openai")) is None


def test_a_summary_is_sealed_for_the_caller() -> None:
    class Summaries:
        def seal(self, summary: str, caller: Caller | None) -> str:
            return f"{summary} of {caller and caller.name}"

    operation = ModelOperation("openai.compact", "openai", "/responses/compact", "responses")
    exchange = new_exchange(
        body=Body(b'{"model":"alias","input":"Hi"}'),
        media_type="application/json",
        model="alias",
        caller=Caller("alice"),
    )
    translated: Any = route(operation, Summaries()).translate(exchange, target())
    assert translated.request.compaction.seal("All") == "All of alice"


def test_a_body_that_was_not_parsed_is_translated() -> None:
    exchange = new_exchange(
        body=Body(b'{"contents":[{"parts":[{"text":"Hi"}]}]}'),
        environ={"CONTENT_TYPE": "application/json; charset=utf-8"},
        model="alias",
    )
    assert route(STREAM).translate(exchange, target()) is not None


def test_a_chat_in_another_media_type_is_refused() -> None:
    with pytest.raises(GatewayError) as excinfo:
        route().translate(chat("multipart/form-data"), target())
    assert (excinfo.value.status, excinfo.value.code) == (400, "invalid_content_type")


COUNT = ModelOperation("anthropic.count", "anthropic", "/messages/count_tokens", counts="messages")
MESSAGES = ModelOperation("anthropic.chat", "anthropic", "/messages", "messages")


def test_a_route_whose_models_speak_its_language_translates_nothing() -> None:
    assert route().requests(chat()) is not None
    assert route(EMBEDDINGS).requests(chat()) is None


@pytest.mark.parametrize("translate", ["strict", "off"])
def test_a_target_of_chats_gets_a_request_of_responses_as_a_chat(translate: str) -> None:
    body = Body(b'{"model": "alias", "input": "Hi"}')
    cursor = new_exchange(body=body, media_type="application/json", model="alias")
    own = target("openai", "gpt-5")
    routes = route(operation=CHAT, translate=translate)
    requests = routes.requests(cursor)
    assert requests is None or requests.carries(own)
    translated = None if requests is None else requests.translated(own)
    if translate == "off":
        assert translated is None
        return
    assert translated is not None
    sent = json.loads(translated.target_request.body)
    assert sent == {"model": "gpt-5", "messages": [{"role": "user", "content": "Hi"}]}
    assert routes.translate(chat(), own) is None
    same = routes.requests(chat())
    assert same is None or same.carries(own)
    assert same is None or same.translated(own) is None


SEALED = {"type": "thinking", "thinking": "Hm", "signature": "modelway:responses:x"}
TURN = {"role": "assistant", "content": [SEALED, {"type": "text", "text": "Hi"}]}


def relayed(operation: ModelOperation, **members: Any) -> Any:
    """The body that a target of the caller's format gets."""
    exchange = chat(**members)
    body = exchange.body.with_edits(*route(operation).relay_edits(exchange))
    return json.loads(b"".join(body.chunks()))


@pytest.mark.parametrize("operation", [COUNT, MESSAGES])
def test_signatures_of_other_vendors_are_not_relayed(operation: ModelOperation) -> None:
    assert route(operation)
    body = relayed(operation, messages=[TURN])
    assert body["messages"][0]["content"] == [{"type": "text", "text": "Hi"}]


def test_a_request_without_them_is_relayed_as_it_is() -> None:
    exchange = chat(messages=[{"role": "user", "content": "modelway: what is it?"}])
    assert route().relay_edits(exchange) == []
    assert route(EMBEDDINGS).relay_edits(chat(messages=[TURN])) == []
