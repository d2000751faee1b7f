"""Two gateways with one database, PostgreSQL: what both could do at one time is done once."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from anthropic import Anthropic
from openai import OpenAI

from tests.support import postgres
from tests.support.running import (
    ALL,
    Running,
    gateway,
    mock,
    patient,
    pointed_at,
    shipped_with_files,
)
from tests.support.thorough import scale

KEY = "0123456789abcdef0123456789abcdef"
OBJECTS = f"""
objects: {{key: "{KEY}", files: {{copy: true}}}}
prices: {{gpt-4o: {{input: 1, output: 2, batch: 0.5}}}}
stores: {{records: "URL", journal: JOURNAL}}
"""
SIZE = scale(20, 500)
"""Requests of the batch."""


@pytest.fixture(scope="module")
def database() -> Iterator[postgres.Postgres]:
    with postgres.running() as server:
        yield server


@pytest.fixture(scope="module")
def gateways(
    tmp_path_factory: pytest.TempPathFactory, database: postgres.Postgres
) -> Iterator[list[Running]]:
    folder: Path = tmp_path_factory.mktemp("two")
    config = shipped_with_files(folder / "project")
    path = folder / "project" / "mock.yaml"
    path.write_text(config.replace("{listen}", "127.0.0.1:1") + f'\nobjects: {{key: "{KEY}"}}\n')
    text = patient(config + OBJECTS.replace("URL", database.url))
    with mock(folder, "--config", str(path)) as upstream:
        to = pointed_at(upstream.url)
        with (
            gateway(folder / "project", text.replace("JOURNAL", "one"), to) as one,
            gateway(folder / "project", text.replace("JOURNAL", "two"), to) as two,
        ):
            yield [one, two]


def openai(running: Running) -> OpenAI:
    return OpenAI(base_url=f"{running.url}/v1", api_key=ALL, max_retries=0)


def line(number: int) -> bytes:
    message = {"role": "user", "content": f"word number {number}"}
    body = {"model": "gpt-4o", "messages": [message]}
    url = "/v1/chat/completions"
    request = {"custom_id": str(number), "method": "POST", "url": url, "body": body}
    return json.dumps(request).encode() + b"\n"


def rows(database: postgres.Postgres, query: str) -> list[tuple[Any, ...]]:
    url = database.url.replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query).fetchall()  # type: ignore[arg-type]


def test_results_that_two_gateways_show_at_one_time_count_once(
    gateways: list[Running], database: postgres.Postgres
) -> None:
    with openai(gateways[0]) as client:
        file = io.BytesIO(b"".join(map(line, range(SIZE))))
        file.name = "batch.jsonl"
        made = client.files.create(file=file, purpose="batch")
        batch = client.batches.create(
            input_file_id=made.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
        )
        while batch.status != "completed":
            batch = client.batches.retrieve(batch.id)
    result = batch.output_file_id
    assert result is not None
    clients = [openai(running) for running in gateways for _ in range(4)]
    with ThreadPoolExecutor(len(clients)) as pool:
        texts = [*pool.map(lambda client: client.files.content(result).text, clients)]
    for each in clients:
        each.close()
    assert len(set(texts)) == 1
    bodies = [json.loads(text)["response"]["body"] for text in texts[0].splitlines()]
    assert len(bodies) == SIZE
    found = rows(database, "SELECT input, output, cost FROM ledger WHERE via = 'batch'")
    assert len(found) == SIZE
    assert sum(row[0] for row in found) == sum(b["usage"]["prompt_tokens"] for b in bodies)
    assert {row[2] for row in found} == {(row[0] * 1000 + row[1] * 2000) // 2 for row in found}


def test_a_file_that_both_copy_is_copied_once(gateways: list[Running]) -> None:
    with openai(gateways[0]) as client:
        file = client.files.create(file=("once.pdf", b"%PDF-1.4"), purpose="user_data")
    clients = [Anthropic(base_url=r.url, api_key=ALL, max_retries=0) for r in gateways * 3]

    def ask(client: Anthropic) -> Any:
        content = [{"type": "document", "source": {"type": "file", "file_id": file.id}}]
        messages: Any = [{"role": "user", "content": content}]
        return client.beta.messages.create(model="claude-sonnet", max_tokens=9, messages=messages)

    with ThreadPoolExecutor(len(clients)) as pool:
        assert all(answer.id for answer in pool.map(ask, clients))
    names = [each.filename for each in clients[0].beta.files.list(limit=1000).data]
    assert names.count("once.pdf") == 1
    for each in clients:
        each.close()
