"""The vendor's full document, served by two lines of routes: the official SDK calls its operations.

Gateway and mock are real processes; the mock answers from the document's examples and schemas. The
document is not part of the project: it lies in the folder `shared/documents` beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import OpenAI

from engine.values.caller import digest
from tests.support.paths import ROOT
from tests.support.ports import free_port
from tests.support.running import (
    ALL,
    CREDENTIAL,
    Running,
    engine,
    gateway,
    modelway,
    start,
)
from tests.support.waiting import PATIENCE

HERE = ROOT
SHARED = Path(os.environ.get("MODELWAY_SHARED") or HERE.parent / "shared")
DOCUMENT = SHARED / "documents/openai/openapi.yaml"
pytestmark = pytest.mark.skipif(
    not DOCUMENT.is_file(), reason="no vendor's document beside the checkout or in MODELWAY_SHARED"
)

CONFIG = f"""version: 1
server: {{listen: "{{listen}}", workers: 1}}
specs: {{openai: {{document: "{DOCUMENT}", dialect: openai}}}}
upstreams:
  openai:
    url: "${{MOCK}}/v1"
    dialect: openai
    credential: {{bearer: {CREDENTIAL}}}
    proxy: ""
    retry: {{attempts: 1}}
models: {{"*": {{to: [{{upstream: openai}}]}}}}
routes:
  - operations: [openai.createChatCompletion, openai.createEmbedding]
    model: $request.body#/model
  - {{operations: openai.*, to: [{{upstream: openai}}]}}
tokens: [{{name: one, sha256: {digest(ALL)}}}]
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("vendor")
    cache = {"XDG_CACHE_HOME": str(folder / "cache"), "NO_PROXY": "*", "MOCK": "http://unused"}
    port = free_port()
    config = folder / "mock.yaml"
    config.write_text(CONFIG.replace("{listen}", "127.0.0.1:1"))
    command = engine("mock", "--port", str(port), "--credential", CREDENTIAL, "-c", config)
    upstream = start(command, port, folder, cache)
    try:
        # Not a copy of the tests' process, whose pages would count as this gateway's.
        with gateway(folder, CONFIG, {**cache, "MOCK": upstream.url}, warm=False) as front:
            yield front
    finally:
        upstream.stop()


@pytest.fixture(scope="module")
def client(running: Running) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{running.url}/v1", api_key=ALL, max_retries=0, timeout=PATIENCE) as sdk:
        yield sdk


FILE = ("a.jsonl", b'{"a": 1}\n' * 100, "application/jsonl")
TURN: Any = {"role": "user", "content": "Hello there", "type": "message"}
CALLS: dict[str, Callable[[OpenAI], Any]] = {
    "files.create": lambda c: c.files.create(file=FILE, purpose="batch"),
    "files.create.expiring": lambda c: c.files.create(
        file=FILE, purpose="batch", expires_after={"anchor": "created_at", "seconds": 3600}
    ),
    "audio.transcriptions": lambda c: c.audio.transcriptions.create(
        file=("a.wav", b"RIFF", "audio/wav"),
        model="gpt-4o-transcribe",
        include=["logprobs"],
        chunking_strategy={"type": "server_vad", "threshold": 0.5},
        timestamp_granularities=["word", "segment"],
    ),
    "images.edit": lambda c: c.images.edit(
        image=[("a.png", b"\x89PNG", "image/png"), ("b.png", b"\x89PNG", "image/png")],
        prompt="join them",
        model="gpt-image-1",
    ),
    "skills.create": lambda c: c.skills.create(files=[("skill/SKILL.md", b"# Skill")]),
    "files.list": lambda c: c.files.list(limit=2, order="asc").data[0],
    "files.retrieve": lambda c: c.files.retrieve("file-1"),
    "files.delete": lambda c: c.files.delete("file-1"),
    "batches.create": lambda c: c.batches.create(
        input_file_id="file-1", endpoint="/v1/chat/completions", completion_window="24h"
    ),
    "batches.retrieve": lambda c: c.batches.retrieve("batch_1"),
    "batches.list": lambda c: c.batches.list(limit=1).data[0],
    "batches.cancel": lambda c: c.batches.cancel("batch_1"),
    "fine_tuning.create": lambda c: c.fine_tuning.jobs.create(
        model="gpt-4o-mini",
        training_file="file-1",
        method={
            "type": "supervised",
            "supervised": {"hyperparameters": {"n_epochs": 3, "learning_rate_multiplier": 0.5}},
        },
    ),
    "fine_tuning.list": lambda c: c.fine_tuning.jobs.list(limit=1).data[0],
    "fine_tuning.events": lambda c: c.fine_tuning.jobs.list_events("ftjob-1").data[0],
    "fine_tuning.checkpoints": lambda c: c.fine_tuning.jobs.checkpoints.list("ftjob-1").data[0],
    "fine_tuning.cancel": lambda c: c.fine_tuning.jobs.cancel("ftjob-1"),
    "vector_stores.create": lambda c: c.vector_stores.create(
        name="n", expires_after={"anchor": "last_active_at", "days": 3}
    ),
    "vector_stores.update": lambda c: c.vector_stores.update("vs_1", name="m"),
    "vector_stores.list": lambda c: c.vector_stores.list(limit=1).data[0],
    "vector_stores.search": lambda c: c.vector_stores.search(
        "vs_1",
        query="q",
        filters={
            "type": "and",
            "filters": [
                {"type": "or", "filters": [{"type": "eq", "key": "a", "value": 1}]},
                {"type": "eq", "key": "b", "value": "x"},
            ],
        },
    ).data[0],
    "vector_stores.files.create": lambda c: c.vector_stores.files.create("vs_1", file_id="file-1"),
    "vector_stores.file_batches": lambda c: c.vector_stores.file_batches.create(
        "vs_1", file_ids=["file-1"]
    ),
    "vector_stores.delete": lambda c: c.vector_stores.delete("vs_1"),
    "uploads.create": lambda c: c.uploads.create(
        filename="a.jsonl", bytes=900, mime_type="application/jsonl", purpose="batch"
    ),
    "uploads.parts": lambda c: c.uploads.parts.create("upload_1", data=FILE[1]),
    "uploads.complete": lambda c: c.uploads.complete("upload_1", part_ids=["part_1"]),
    "uploads.cancel": lambda c: c.uploads.cancel("upload_1"),
    "conversations.create": lambda c: c.conversations.create(metadata={"a": "b"}, items=[TURN]),
    "conversations.retrieve": lambda c: c.conversations.retrieve("conv_1"),
    "conversations.update": lambda c: c.conversations.update("conv_1", metadata={"a": "c"}),
    "conversations.items": lambda c: c.conversations.items.create("conv_1", items=[TURN]),
    "conversations.items.list": lambda c: c.conversations.items.list("conv_1").data[0],
    "conversations.delete": lambda c: c.conversations.delete("conv_1"),
    "containers.create": lambda c: c.containers.create(name="n", file_ids=["file-1"]),
    "containers.list": lambda c: c.containers.list(limit=1).data[0],
    "containers.files.create": lambda c: c.containers.files.create("cntr_1", file=FILE),
    "containers.delete": lambda c: c.containers.delete("cntr_1"),
    "responses.create": lambda c: c.responses.create(model="gpt-4o", input="Hello there"),
    "responses.input_items": lambda c: c.responses.input_items.list("resp_1").data[0],
    "chat.completions": lambda c: c.chat.completions.create(
        model="gpt-4o", messages=[{"role": "user", "content": "Hi"}], stop=None, temperature=1
    ),
    "embeddings": lambda c: c.embeddings.create(
        model="m", input="Hello", encoding_format="float"
    ).data[0],
    "models.list": lambda c: c.models.list().data[0],
}


@pytest.mark.parametrize("name", CALLS)
def test_the_sdk_calls_it(client: OpenAI, name: str) -> None:
    response = CALLS[name](client)
    if response is not None:
        assert isinstance(response, openai.BaseModel)
        assert response.model_dump(exclude_none=True)


def test_what_the_document_forbids_is_refused_with_its_place(client: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as excinfo:
        client.batches.create(
            input_file_id="file-1",
            endpoint="/v1/chat/completions",
            completion_window="48h",  # type: ignore[arg-type]
        )
    assert excinfo.value.param == "completion_window"


def test_a_list_of_an_upload_is_checked_item_by_item(client: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as excinfo:
        client.audio.transcriptions.create(
            file=("a.wav", b"RIFF", "audio/wav"),
            model="gpt-4o-transcribe",
            include=["logprobs", "nonsense"],  # type: ignore[list-item]
        )
    assert excinfo.value.param == "include[1]"


def test_every_operation_is_served(running: Running) -> None:
    folder = running.log.parent
    command = ("routes", "--format", "json", "-c", folder / "gateway.yaml")
    result = modelway(*command, environ={"MOCK": "http://unused"})
    assert result.returncode == 0, result.stdout + result.stderr
    routes = json.loads(result.stdout)["routes"]
    assert sum(route["operation"].startswith("openai.") for route in routes) == 288


def test_a_worker_stays_small(running: Running) -> None:
    for pid in running.workers():
        status = Path(f"/proc/{pid}/status").read_text()
        resident = next(int(s.split()[1]) for s in status.splitlines() if s.startswith("VmRSS"))
        assert resident * 1024 < 130_000_000  # asked are 160 MB; nothing was cached at this start
