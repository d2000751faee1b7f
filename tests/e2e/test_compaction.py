"""Conversations are compacted by models of every vendor, through the shipped gateway: with OpenAI's
SDK over HTTP and a WebSocket, and by Codex with its built-in provider. Its long sessions are in
`test_agent_sessions.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from openai import BadRequestError, OpenAI

from engine.objects.summaries import INTRODUCTION, PREFIX
from engine.translations.responses.compaction import PROMPT
from tests.support.agent_model import AgentModel
from tests.support.agent_page import MODELS, serving
from tests.support.agents import CODEX
from tests.support.recording import Recorder, recorder
from tests.support.running import ALL, Running

Front = tuple[Running, Recorder]
Json = dict[str, Any]

OTHERS = [MODELS["messages"], MODELS["generate_content"]]
"""Models of other vendors than the caller's."""

MORE = "objects: {key: 0123456789abcdef0123456789abcdef}\n"
SUMMARY = "The user wants TURN-8; file seven.py is done."
TRIGGER = {"type": "compaction_trigger"}
TOOL = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}
ITEMS = [
    {"type": "message", "role": "user", "content": "TURN-7 Look."},
    {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "call_1", "output": "LOOKED"},
]


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    with (
        recorder() as upstream,
        serving(tmp_path_factory.mktemp("compaction"), upstream.url, top=MORE) as running,
    ):
        yield running, upstream


@pytest.fixture
def sdk(front: Front) -> Iterator[OpenAI]:
    running, upstream = front
    upstream.reset()
    upstream.speak = AgentModel({}, texts={7: SUMMARY})
    with OpenAI(base_url=f"{running.url}/v1", api_key=ALL, max_retries=0) as client:
        yield client


def compacted(client: OpenAI, model: str) -> Json:
    """The item in place of a conversation."""
    response = client.responses.create(
        model=model, input=[*ITEMS, TRIGGER], tools=[TOOL], store=False
    )
    [item] = response.output
    assert (item.type, response.usage is not None) == ("compaction", True)
    return item.to_dict()


def sent(front: Front) -> str:
    """The body of the last request that reached the upstream."""
    return front[1].requests[-1].body.decode()


@pytest.mark.parametrize("model", OTHERS)
def test_a_model_of_another_vendor_writes_the_summary(
    model: str, sdk: OpenAI, front: Front
) -> None:
    item = compacted(sdk, model)
    assert item["encrypted_content"].startswith(PREFIX)
    body = json.loads(sent(front))
    assert json.dumps(PROMPT)[1:-1] in sent(front)
    assert body.get("tool_choice", {}).get("type") == "none" or '"NONE"' in sent(front)
    assert body["tools"]
    assert "LOOKED" in sent(front)


@pytest.mark.parametrize("model", [*OTHERS, MODELS["responses"]])
def test_any_model_goes_on_with_the_summary(model: str, sdk: OpenAI, front: Front) -> None:
    item = compacted(sdk, OTHERS[0])
    user = {"type": "message", "role": "user", "content": "TURN-1 Go on."}
    response = sdk.responses.create(model=model, input=[item, user], store=False)
    assert response.output_text == "Done 1."
    assert json.dumps(INTRODUCTION + SUMMARY)[1:-1] in sent(front)
    assert PREFIX not in sent(front)


def test_a_stream_tells_that_the_summary_is_written_and_ends_with_it(sdk: OpenAI) -> None:
    events = [
        *sdk.responses.create(model=OTHERS[1], input=[*ITEMS, TRIGGER], store=False, stream=True)
    ]
    kinds = [event.type for event in events]
    assert kinds[:3] == ["response.created", "response.in_progress", "response.output_item.added"]
    assert "response.compaction.compacting" in kinds
    assert kinds[-2:] == ["response.output_item.done", "response.completed"]
    assert SUMMARY.split()[0] not in "".join(event.to_json() for event in events[2:-2])
    [item] = events[-1].response.output
    assert item == events[-2].item


@pytest.mark.parametrize("model", OTHERS)
def test_the_operation_that_compacts(model: str, sdk: OpenAI, front: Front) -> None:
    answer = sdk.responses.compact(model=model, input=ITEMS, instructions="Be brief.")
    first, last = answer.output
    assert (answer.object, first.type, last.type) == (
        "response.compaction",
        "message",
        "compaction",
    )
    assert answer.usage.output_tokens
    response = sdk.responses.create(
        model=model,
        input=[*(item.to_dict(warnings=False) for item in answer.output), ITEMS[0]],
        store=False,
    )
    assert response.output_text == SUMMARY
    assert INTRODUCTION.split(".")[0] in sent(front)


def test_over_a_websocket_the_conversation_is_that_of_the_socket(sdk: OpenAI, front: Front) -> None:
    with sdk.responses.connect() as connection:

        def ask(**members: Any) -> Any:
            connection.response.create(model=OTHERS[0], store=False, **members)
            for event in connection:
                assert event.type != "error", event
                if event.type == "response.completed":
                    return event.response
            raise AssertionError

        first = ask(input=ITEMS)
        second = ask(input=[TRIGGER], previous_response_id=first.id)
        assert second.output[0].type == "compaction"
        third = ask(input=[{"role": "user", "content": "TURN-2"}], previous_response_id=second.id)
        assert third.output[0].content[0].text == "Done 2."
    assert SUMMARY in sent(front)
    assert "TURN-7" in sent(front), "what the user has said stays"
    assert "LOOKED" not in sent(front)


def test_a_summary_opens_for_its_owner_alone(sdk: OpenAI, front: Front) -> None:
    item = compacted(sdk, OTHERS[0])
    item["encrypted_content"] = f"{item['encrypted_content'][:-4]}AAAA"
    count = len(front[1].requests)
    with pytest.raises(BadRequestError, match=r"input\[0\].encrypted_content") as refused:
        sdk.responses.create(model=OTHERS[0], input=[item, ITEMS[0]])
    assert refused.value.code == "invalid_encrypted_content"
    assert len(front[1].requests) == count


def test_what_a_vendor_has_encrypted_is_refused_by_name(sdk: OpenAI) -> None:
    item = {"type": "compaction", "encrypted_content": "gAAAAAC0001"}
    with pytest.raises(BadRequestError, match=r"'input\[0\]'"):
        sdk.responses.create(model=OTHERS[0], input=[item, ITEMS[0]])


@pytest.mark.parametrize("model", OTHERS)
def test_codex_compacts_with_its_built_in_provider(
    model: str, front: Front, tmp_path: Path
) -> None:
    if missing := CODEX.missing():
        pytest.skip(missing)
    running, upstream = front
    upstream.reset()
    upstream.speak = AgentModel({}, full={1: 60_000}, texts={1: SUMMARY})
    built_in = (
        "--config=model_auto_compact_token_limit=50000",
        *("--config=model_provider=openai", f"--config=openai_base_url={running.url}/v1"),
    )
    agent = replace(CODEX, quiet={"CODEX_API_KEY": ALL})
    agent.run("TURN-1 Go on.", running.url, model, tmp_path, [*built_in, *agent.options])
    result = agent.run("TURN-2 Go on.", running.url, model, tmp_path, [*built_in, *agent.resume])
    assert (result.code, result.output.strip()) == (0, "Done 2."), result.errors
    texts = [request.body.decode() for request in upstream.requests if request.body]
    assert sum(json.dumps(PROMPT)[1:-1] in text for text in texts) == 1
    assert json.dumps(SUMMARY)[1:-1] in texts[-1]
