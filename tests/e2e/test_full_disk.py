"""A gateway whose disk is full: its records, journal and temporary files are on file systems of
1 MB, which a test fills and empties."""

from __future__ import annotations

import io
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic, APIStatusError
from google import genai
from google.genai import errors, types
from openai import InternalServerError, OpenAI

from tests.support.ports import free_port
from tests.support.running import (
    ALL,
    Running,
    engine,
    mock,
    patient,
    pointed_at,
    shipped_with_files,
    start,
    with_telemetry,
)
from tests.support.waiting import until

KEY = "0123456789abcdef0123456789abcdef"
BATCH = b'{"key": "a", "request": {"contents": [{"parts": [{"text": "%s"}]}]}}\n' % (b"y" * 2000)
NAMESPACE = ["unshare", "--map-root-user", "--mount"]
MOUNTS = 'mount -t tmpfs -o size=1m disk "$1" && mount -t tmpfs -o size=1m temporary "$2"'


@dataclass(frozen=True)
class Disk:
    """A file system that only a process sees: its folder there, and here."""

    folder: Path
    seen: Path

    def fill(self) -> None:
        """Leave no byte of room."""
        size = 65_536
        with (self.seen / "filler").open("ab", buffering=0) as file:
            while size:
                try:
                    file.write(bytes(size))
                except OSError:
                    size //= 2

    def empty(self) -> None:
        (self.seen / "filler").unlink()

    def rows(self, query: str, copy: Path) -> int:
        """A number in the records, of a copy of their files."""
        for name in ("records.db", "records.db-wal"):
            with suppress(FileNotFoundError):  # nothing was written since a checkpoint
                (copy / name).write_bytes((self.seen / name).read_bytes())
        with closing(sqlite3.connect(copy / "records.db")) as database:
            return int(database.execute(query).fetchone()[0])


@dataclass(frozen=True)
class Front:
    """The gateway, with its disks and clients of three vendors."""

    running: Running
    disk: Disk
    temporary: Disk
    openai: OpenAI
    anthropic: Anthropic
    gemini: genai.Client

    def chat(self) -> str:
        messages: Any = [{"role": "user", "content": "hi"}]
        raw = self.openai.chat.completions.with_raw_response.create(
            model="gpt-4o", messages=messages
        )
        return raw.headers["x-request-id"]

    def store(self, **options: Any) -> Any:
        """A response that the records keep, as its vendor stores none."""
        return self.openai.responses.create(
            model="claude-sonnet", input="hi", store=True, **options
        )

    def upload(self) -> str:
        """A file that may be a batch, which is kept."""
        options = types.UploadFileConfig(mime_type="application/jsonl")
        return str(self.gemini.files.upload(file=io.BytesIO(BATCH), config=options).name)

    def copy(self, file_id: str) -> Any:
        """A message of Claude about a file of OpenAI's."""
        source = {"type": "file", "file_id": file_id}
        messages: Any = [{"role": "user", "content": [{"type": "document", "source": source}]}]
        return self.anthropic.beta.messages.create(
            model="claude-sonnet", max_tokens=9, messages=messages, betas=["files-api-2025-04-14"]
        )


def has_namespaces() -> bool:
    try:
        return (
            subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode == 0
        )
    except FileNotFoundError:
        return False


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    if not has_namespaces():
        pytest.skip("a small file system needs namespaces of a user: `unshare -rm` is refused here")
    folder: Path = tmp_path_factory.mktemp("full")
    config = shipped_with_files(folder / "project")
    described = folder / "project" / "mock.yaml"
    described.write_text(config.replace("{listen}", "127.0.0.1:1") + f"\nobjects: {{key: {KEY}}}\n")
    disk, temporary = folder / "disk", folder / "temporary"
    for each in (disk, temporary):
        each.mkdir()
    port = free_port()
    text = patient(config).replace("{listen}", f"127.0.0.1:{port}") + (
        f"\nobjects: {{key: {KEY}, files: {{copy: true}}, responses: {{store: records}}}}\n"
        f'stores: {{records: "sqlite:///{disk}/records.db", journal: {disk}/journal}}\n'
    )
    path = folder / "project" / "gateway.yaml"
    path.write_text(with_telemetry(text, f"127.0.0.1:{free_port()}"))
    mounted = f'{MOUNTS} && shift 2 && exec "$@"'
    inside = [*NAMESPACE, "sh", "-c", mounted, "sh", disk, temporary, *engine("serve", "-c", path)]
    with mock(folder, "--config", str(described)) as upstream:
        environ = {**pointed_at(upstream.url), "TMPDIR": str(temporary)}
        running = start(inside, port, folder, environ)
        try:
            until(running.recorders, "a recorder")
            root = f"/proc/{running.process.pid}/root"
            disks = [Disk(each, Path(f"{root}{each}")) for each in (disk, temporary)]
            yield from fronts(running, *disks)
        finally:
            running.stop()


def fronts(running: Running, disk: Disk, temporary: Disk) -> Iterator[Front]:
    options = types.HttpOptions(base_url=running.url)
    with (
        OpenAI(base_url=f"{running.url}/v1", api_key=ALL, max_retries=0) as openai,
        Anthropic(base_url=running.url, api_key=ALL, max_retries=0) as anthropic,
    ):
        google = genai.Client(api_key=ALL, http_options=options)
        yield Front(running, disk, temporary, openai, anthropic, google)


@pytest.fixture
def full(front: Front) -> Iterator[Front]:
    """The gateway with a full disk. Its workers live through the test."""
    workers = front.running.workers()
    front.disk.fill()
    yield front
    assert front.running.workers() == workers
    with suppress(FileNotFoundError):  # the test has made room
        front.disk.empty()


def refused(call: Callable[[], Any]) -> int:
    with pytest.raises((errors.APIError, APIStatusError)) as raised:
        call()
    error = raised.value
    assert "at the moment. Try again later." in str(error)
    return int(error.code if isinstance(error, errors.APIError) else error.status_code)


def test_a_full_disk_stores_no_response_and_refuses_none(full: Front) -> None:
    response = full.store()
    assert (response.store, response.status) == (False, "completed")
    full.disk.empty()
    assert full.store().store is True
    assert "its response is not stored: sqlite:" in full.running.output()


def test_of_an_upload_that_fills_the_disk_nothing_is_kept(full: Front, tmp_path: Path) -> None:
    count = "select count(*) from stored_responses"
    before = full.disk.rows(count, tmp_path)
    assert refused(full.upload) == 503
    full.disk.empty()
    assert full.disk.rows(count, tmp_path) == before
    batch = full.gemini.batches.create(model="gemini-2.5-flash", src=full.upload())
    assert str(batch.name).startswith("batches/mw")


def test_a_file_is_not_copied_while_that_cannot_be_remembered(full: Front) -> None:
    file = full.openai.files.create(file=("a.pdf", b"%PDF-1.4"), purpose="user_data")
    assert refused(lambda: full.copy(file.id)) == 503
    full.disk.empty()
    assert full.copy(file.id).content


def test_a_full_disk_loses_rows_and_no_requests(full: Front, tmp_path: Path) -> None:
    for _ in range(20):
        assert full.chat()
    full.disk.empty()
    request_id = full.chat()
    query = f"select count(*) from usage where id = '{request_id}'"
    until(lambda: full.disk.rows(query, tmp_path) == 1, "a row of the ledger")


def test_a_body_that_the_disk_does_not_take_is_refused_and_leaves_nothing(front: Front) -> None:
    messages: Any = [{"role": "user", "content": "x" * 3_000_000}]
    for _ in range(3):
        with pytest.raises(InternalServerError, match="no room for a body") as raised:
            front.openai.chat.completions.create(model="gpt-4o", messages=messages)
        assert raised.value.status_code == 503
    front.temporary.fill()
    front.temporary.empty()  # it can be filled to the same bytes again: nothing else is there
    assert list(front.temporary.seen.iterdir()) == []
    assert front.chat()
