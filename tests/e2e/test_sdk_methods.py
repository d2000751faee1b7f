"""Every method of the vendors' SDKs that sends a request, through the gateway to the mock: it is
served, or has a reason not to be."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic, NotFoundError
from google import genai
from google.genai import errors, types
from openai import OpenAI

from engine.values.caller import digest
from tests.support.genai_methods import calls
from tests.support.recording import HttpAnswer, ask, request
from tests.support.running import ALL, Running, gateway, mock, patient, pointed_at, shipped
from tests.support.sdk_methods import FILE, Calls
from tools.sdk_operations import SdkOperation, generated

GIVEN: dict[str, Any] = {
    **dict.fromkeys(("file", "audio_sample", "recording", "image", "video"), FILE),
    "data": b"bytes",
    "files": [FILE],
    "input": "hi",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "hi"}],
}
OTHER = "mw-" + "d" * 64
"""The token of another caller."""
_RESPONSE = {"model": "gpt-4o", "input": "hi"}
SPECIAL: dict[str, dict[str, Any]] = {
    "audio.speech.create": {"model": "tts-1", "voice": "alloy"},
    "audio.transcriptions.create": {"model": "whisper-1"},
    "audio.translations.create": {"model": "whisper-1"},
    "chat.completions.completions.create": {"store": True},
    "completions.create": {"model": "gpt-3.5-turbo-instruct"},
    "containers.files.files.create": {"file": FILE},
    "embeddings.create": {"model": "text-embedding-3-small"},
    **{f"{each}.create": {"files": [FILE]} for each in ("skills.skills", "skills.versions")},
    **{f"beta.{each}.create": {"files": [FILE]} for each in ("skills.skills", "skills.versions")},
    "skills.versions.versions.create": {"files": [FILE]},
    **{f"{each}responses.responses.create": _RESPONSE for each in ("", "beta.")},
    **{f"{each}responses.input_tokens.count": _RESPONSE for each in ("", "beta.")},
    **{f"{each}models.retrieve": {"model_id": "claude-sonnet"} for each in ("", "beta.")},
}
REASONS = {
    "beta.compliance.": "the vendor's administration",
    "beta.tunnels.": "the vendor's administration",
    "beta.user_profiles.": "the vendor's administration",
    "user_profiles.": "the vendor's administration",
    "messages.batches.results": "goes to the address that the batch has",
    "beta.messages.batches.results": "goes to the address that the batch has",
}
"""The beginnings of the names of methods that are not served, of Anthropic's SDK."""
OPENAI_REASONS = {
    "beta.realtime.sessions.create": "hands out a key of the vendor",
    "beta.realtime.transcription_sessions.create": "hands out a key of the vendor",
    "realtime.sessions.create": "hands out a key of the vendor",
    "realtime.translations.client_secrets.create": "hands out a key of the vendor",
    "realtime.client_secrets.create": "needs client_secrets.keys: test_client_secrets.py",
}
"""The methods of OpenAI's SDK that are not served by the shipped config."""
GOOGLE_REASONS = {
    "interactions.auth_tokens.create": "hands out a key of the vendor",
    "interactions.auth_tokens.delete": "of a key of the vendor",
}
"""The methods of google-genai that are not served."""


@dataclass
class Vendors:
    """A mock of what the shipped config serves, and the text of that config."""

    url: str
    config: str
    folder: Path


@pytest.fixture(scope="module")
def vendors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vendors]:
    """A mock of the shipped gateway with the objects of objects.yaml."""
    folder: Path = tmp_path_factory.mktemp("methods")
    config = shipped(folder / "project").replace("# include: [objects", "include: [objects", 1)
    path = folder / "project" / "mock.yaml"
    path.write_text(config.replace("{listen}", "127.0.0.1:1"))
    with mock(folder, "--config", str(path)) as upstream:
        yield Vendors(upstream.url, patient(config), folder / "project")


@pytest.fixture(scope="module")
def front(vendors: Vendors) -> Iterator[Running]:
    """The shipped gateway with the objects of objects.yaml, whose ids are not sealed."""
    with gateway(vendors.folder, vendors.config, pointed_at(vendors.url)) as running:
        yield running


@pytest.fixture(scope="module")
def sealed(vendors: Vendors) -> Iterator[Running]:
    """The same gateway with sealed ids."""
    token = f"  - {{name: other, sha256: {digest(OTHER)}}}"
    config = vendors.config.replace("\ntokens:\n", f"\ntokens:\n{token}\n", 1)
    config += f"\nobjects: {{key: {'0123456789abcdef' * 2}}}\n"
    with gateway(vendors.folder, config, pointed_at(vendors.url)) as running:
        yield running


def results(
    client: Any, operations: list[SdkOperation], model: str
) -> tuple[list[str], dict[str, Exception]]:
    """The methods that were served, and the exceptions of the others."""
    served, failed = [], {}
    for operation, answer in Calls(client, {**GIVEN, "model": model}, SPECIAL).run(operations):
        if isinstance(answer, Exception):
            failed[operation.method] = answer
        else:
            served.append(operation.method)
    return served, failed


def test_every_method_of_openai_is_served(front: Running) -> None:
    operations = [o for o in generated("openai") if not o.is_administration]
    with OpenAI(base_url=f"{front.url}/v1", api_key=ALL, max_retries=0) as client:
        served, failed = results(client, operations, "gpt-4o")
    assert failed.keys() - OPENAI_REASONS.keys() == set(), failed
    assert len(served) >= 240


def test_every_method_of_anthropic_is_served_or_has_a_reason(front: Running) -> None:
    operations = [o for o in generated("anthropic") if not o.is_administration]
    with Anthropic(base_url=front.url, api_key=ALL, max_retries=0) as client:
        served, failed = results(client, operations, "claude-sonnet")
        batch = client.messages.batches.create(requests=[])
        path = f"/v1/messages/batches/{batch.id}/results"
        assert "custom_id" in client.get(path, cast_to=str)
    assert {m for m in failed if not m.startswith(tuple(REASONS))} == set()
    assert {m.partition(".")[0] for m in served} >= {
        "beta",
        "files",
        "messages",
        "models",
        "skills",
    }
    assert len(served) >= 120


def test_every_method_of_google_genai_is_served(front: Running) -> None:
    options = types.HttpOptions(base_url=front.url)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client = genai.Client(api_key=ALL, http_options=options)
        served, refused = [], set()
        for name, call in calls(client):
            if name not in GOOGLE_REASONS:
                call()
                served.append(name)
                continue
            with pytest.raises(Exception, match=r"There is no (POST|DELETE) /"):
                call()
            refused.add(name)
    assert len(served) >= 75
    assert refused == GOOGLE_REASONS.keys()


def test_an_uploaded_file_is_found_until_it_is_deleted(front: Running) -> None:
    with OpenAI(base_url=f"{front.url}/v1", api_key=ALL, max_retries=0) as client:
        file = client.files.create(file=FILE, purpose="batch")
        assert client.files.content(file.id).content == FILE[1]
        assert file.id in [each.id for each in client.files.list()]
        batch = client.batches.create(
            input_file_id=file.id, endpoint="/v1/responses", completion_window="24h"
        )
        states = [client.batches.retrieve(batch.id).status for _ in range(3)]
        assert states == ["validating", "in_progress", "completed"]
        client.files.delete(file.id)
        assert file.id not in [each.id for each in client.files.list()]


def test_the_three_vendors_files_have_one_path(front: Running) -> None:
    """The dialect of the request chooses among the documents."""
    with Anthropic(base_url=front.url, api_key=ALL, max_retries=0) as client:
        assert client.beta.files.upload(file=FILE).type == "file"
    with OpenAI(base_url=f"{front.url}/v1", api_key=ALL, max_retries=0) as other:
        assert other.files.create(file=FILE, purpose="batch").object == "file"
    options = types.HttpOptions(base_url=front.url)
    google = genai.Client(api_key=ALL, http_options=options)  # it closes when it is collected
    files = google.files
    file = files.upload(file=io.BytesIO(b"x"), config={"mime_type": "text/plain"})
    assert file.name in [each.name for each in files.list()]


def google(running: Running, token: str = ALL) -> genai.Client:
    return genai.Client(api_key=token, http_options=types.HttpOptions(base_url=running.url))


def test_a_file_that_google_uploads_in_pieces_is_its_callers(sealed: Running) -> None:
    """The address of an upload, which has no token, is that of the caller who has begun it."""
    client = google(sealed)
    options = types.UploadFileConfig(mime_type="text/plain", display_name="notes")
    file = client.files.upload(file=io.BytesIO(b"hello"), config=options)
    assert str(file.name).startswith("files/mw")
    assert client.files.get(name=str(file.name)).display_name == "notes"
    assert [each.name for each in client.files.list()] == [file.name]
    asked = client.models.generate_content(model="gemini-2.5-flash", contents=[file, "hi"])
    assert asked.candidates
    other = google(sealed, OTHER)
    assert list(other.files.list()) == []
    with pytest.raises(errors.ClientError, match="no such object"):
        other.models.generate_content(model="gemini-2.5-flash", contents=[file, "hi"])
    with pytest.raises(errors.ClientError, match="no such object"):
        other.files.get(name=str(file.name))


def test_a_file_goes_into_a_store_of_its_caller_only(sealed: Running) -> None:
    client, other = google(sealed), google(sealed, OTHER)
    stores = client.file_search_stores
    store = str(stores.create(config={"display_name": "d"}).name)
    options: Any = {"mime_type": "text/plain"}
    operation = stores.upload_to_file_search_store(
        file_search_store_name=store, file=io.BytesIO(b"hi"), config=options
    )
    assert "/mw" in str(operation.name)
    document = stores.documents.get(name=f"{store}/documents/d-1")
    assert str(document.name).startswith("fileSearchStores/mw")
    with pytest.raises(errors.ClientError, match="no such object"):
        other.file_search_stores.upload_to_file_search_store(
            file_search_store_name=store, file=io.BytesIO(b"hi"), config=options
        )


@pytest.mark.parametrize("kind", ["fileSearchStores", "environments"])
def test_the_address_of_an_upload_leads_through_the_gateway_and_cannot_be_changed(
    sealed: Running, kind: str
) -> None:
    begin = ("X-Goog-Upload-Protocol: resumable", "X-Goog-Upload-Command: start")
    end = ("X-Goog-Upload-Command: upload, finalize", "X-Goog-Upload-Offset: 0")
    is_store = kind == "fileSearchStores"
    method = "POST" if is_store else "PUT"

    def send(target: str, body: bytes = b"", *headers: str, token: str = "") -> HttpAnswer:
        key = [f"x-goog-api-key: {token}"] if token else []
        raw = request(target, body, method=method, headers=[*headers, *key], media_type="")
        return ask(sealed.port, raw)

    made = ask(
        sealed.port,
        request(f"/v1beta/{kind}", b"{}", headers=[f"x-goog-api-key: {ALL}"]),
    ).json()
    id_ = made["name"].partition("/")[2] if is_store else made["id"]
    rest = ":uploadToFileSearchStore" if is_store else "/files/a.txt"
    path = f"/upload/v1beta/{kind}/{id_}{rest}"
    assert send(path, b"", *begin, token=OTHER).status == 404
    started = send(path, b"", *begin, token=ALL)
    assert started.status == 200, started.body
    address = started.value("x-goog-upload-url").partition("gateway")[2]
    assert address.startswith(f"{path}?upload_id=mw")
    for changed in (address.replace("_id=mw", "_id=mwA"), address.replace(id_, "x")):
        assert send(changed, b"hi", *end).status == 404
    last = send(address, b"hi", *end)
    assert last.status == 200, last.body
    assert last.value("x-goog-upload-status") == "final"


def test_a_chat_names_files_of_its_caller_only(sealed: Running) -> None:
    def ask(client: Anthropic, file: str) -> Any:
        source: Any = {"type": "file", "file_id": file}
        message: Any = {"role": "user", "content": [{"type": "document", "source": source}]}
        return client.beta.messages.create(
            model="claude-sonnet",
            max_tokens=9,
            messages=[message],
            betas=["files-api-2025-04-14"],
        )

    with (
        Anthropic(base_url=sealed.url, api_key=ALL, max_retries=0) as client,
        Anthropic(base_url=sealed.url, api_key=OTHER, max_retries=0) as other,
    ):
        file = client.beta.files.upload(file=("a.txt", b"hi", "text/plain"))
        assert ask(client, file.id).role == "assistant"
        for asker, name in ((other, file.id), (client, "file_011CNha8iCJcU1wXNR6q4V8w")):
            with pytest.raises(NotFoundError, match="no such object"):
                ask(asker, name)


def test_the_version_of_a_skill_is_found_by_its_id(sealed: Running) -> None:
    with Anthropic(base_url=sealed.url, api_key=ALL, max_retries=0) as client:
        skill = client.beta.skills.create(files=[("s/SKILL.md", b"---\nname: s\n---\n")])
        version = client.beta.skills.versions.create(skill.id, files=[("s/SKILL.md", b"-")])
        found = client.beta.skills.versions.retrieve(version.id, skill_id=skill.id)
        assert found.id == version.id


def test_a_conversation_that_anthropic_holds_is_its_caller_s(sealed: Running) -> None:
    def ask(client: Anthropic, thread: Any, **options: Any) -> Any:
        messages: Any = [{"role": "user", "content": "hi"}]
        model, more = "claude-sonnet", {"thread": thread} if thread else {}
        return client.beta.messages.create(
            model=model, max_tokens=9, messages=messages, **more, **options
        )

    with (
        Anthropic(base_url=sealed.url, api_key=ALL, max_retries=0) as client,
        Anthropic(base_url=sealed.url, api_key=OTHER, max_retries=0) as other,
    ):
        begun = ask(client, {"type": "create"})
        thread = {"type": "continue", "previous_message_id": begun.id}
        assert begun.id.startswith("msg_mw")
        assert ask(client, thread).id.startswith("msg_mw")
        streamed = next(iter(ask(client, thread, stream=True)))
        assert streamed.message.id.startswith("msg_mw")
        with pytest.raises(NotFoundError, match="no such object"):
            ask(other, thread)
        raw = ask(client, None).id
        assert not raw.startswith("msg_mw"), "the id of a message that is not held"
        for diagnosed in (raw, begun.id):
            assert ask(client, None, diagnostics={"previous_message_id": diagnosed}).content
        with pytest.raises(NotFoundError, match="no such object"):
            ask(client, {"type": "continue", "previous_message_id": raw})


def test_a_chat_searches_stores_of_its_caller_only(sealed: Running) -> None:
    client, other = google(sealed), google(sealed, OTHER)
    store = str(client.file_search_stores.create(config={"display_name": "d"}).name)
    config = types.GenerateContentConfig(
        tools=[types.Tool(file_search=types.FileSearch(file_search_store_names=[store]))]
    )
    for each, name in ((client, store), (other, store), (client, "fileSearchStores/d-123")):
        config.tools[0].file_search.file_search_store_names = [name]  # type: ignore[index,union-attr]
        if (each, name) == (client, store):
            asked = each.models.generate_content(
                model="gemini-2.5-flash", contents="hi", config=config
            )
            assert asked.candidates
            continue
        with pytest.raises(errors.ClientError, match="no such object"):
            each.models.generate_content(model="gemini-2.5-flash", contents="hi", config=config)
