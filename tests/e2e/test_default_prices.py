"""The prices of a provider, in the ledger and in the budgets of a running gateway."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from engine.config import providers
from tests.support.books import Books
from tests.support.recording import Recorder, answer, ask, recorder
from tests.support.running import Running, gateway
from tests.support.small import chat, project

GROQ = providers.read("groq")
LLAMA = "llama-3.3-70b-versatile"
USAGE = {"prompt_tokens": 1_000_000, "completion_tokens": 1_000_000, "total_tokens": 2_000_000}
MORE = """
stores: {records: "sqlite:///records.db"}
prices: {two: {input: 1, output: 1}}
"""


@dataclass(frozen=True)
class Front:
    running: Running
    books: Books

    def charge(self, model: str) -> tuple[int, str]:
        """The cost of a request for a model, and the source of its price."""
        (row,) = self.books.rows_of(lambda: ask(self.running.port, chat(model=model)))
        return row["cost"], row["price"]


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    folder = tmp_path_factory.mktemp("prices")

    def use_provider(text: str, upstream: Recorder) -> str:
        entry = f'{{url: "{upstream.url}/v1", proxy: ""'
        provider = f'{{provider: groq, url: "{upstream.url}/v1", proxy: ""'
        text = text.replace(entry, provider)
        text = text.replace(
            "one: {to: [{upstream: main}]}", f"one: {{to: [{{upstream: main, model: {LLAMA}}}]}}"
        )
        return text.replace("models:\n", 'models:\n  "*": {to: [{upstream: main}]}\n', 1)

    with recorder() as upstream:
        completion = {"id": "c", "object": "chat.completion", "choices": [], "usage": USAGE}
        upstream.speak = answer(json.dumps(completion).encode())
        config = use_provider(project(folder, upstream.url, {"chat": "[]"}, more=MORE), upstream)
        with gateway(folder, config) as running:
            yield Front(running, Books(folder))


def test_a_target_costs_what_its_provider_says_of_its_own_name_for_the_model(front: Front) -> None:
    price = GROQ.models[LLAMA].price
    assert price is not None
    nanos = round((price["input"] + price["output"]) * 10**9)
    assert front.charge("one") == front.charge(LLAMA) == (nanos, f"groq {GROQ.date}")


def test_a_price_of_the_config_comes_first(front: Front) -> None:
    assert front.charge("two") == (2 * 10**9, "config")


def test_a_model_that_its_provider_is_not_known_to_have_has_no_price(front: Front) -> None:
    assert front.charge("llama-9000") == (0, "")
