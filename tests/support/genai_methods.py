"""Calls every method of google-genai that sends a request to the Gemini API."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

from google.genai import Client, types

Call = Callable[[], Any]
CHAT, VECTORS = "gemini-2.5-flash", "gemini-embedding-001"


def _file() -> io.BytesIO:
    return io.BytesIO(b"hello")


def calls(client: Client) -> Iterator[tuple[str, Call]]:
    """Each method with a call of it; objects are created before they are used."""
    yield from _files(client)
    yield from _caches_and_batches(client)
    yield from _stores(client)
    yield from _models(client)
    yield from _agents(client)


def _files(client: Client) -> Iterator[tuple[str, Call]]:
    files = client.files
    text = types.UploadFileConfig(mime_type="text/plain", display_name="greeting")
    name = str(files.upload(file=_file(), config=text).name)
    yield "files.upload", lambda: files.upload(file=_file(), config=text)
    yield "files.list", lambda: list(files.list())
    yield "files.get", lambda: files.get(name=name)
    yield "files.download", lambda: files.download(file=name)
    yield "files.delete", lambda: files.delete(name=name)


def _caches_and_batches(client: Client) -> Iterator[tuple[str, Call]]:
    caches, batches = client.caches, client.batches
    config: Any = {"contents": ["x"], "ttl": "60s"}
    cache = str(caches.create(model=CHAT, config=config).name)
    yield "caches.create", lambda: caches.create(model=CHAT, config=config)
    yield "caches.list", lambda: list(caches.list())
    yield "caches.get", lambda: caches.get(name=cache)
    yield "caches.update", lambda: caches.update(name=cache, config={"ttl": "9s"})
    yield "caches.delete", lambda: caches.delete(name=cache)
    batch = str(batches.create(model=CHAT, src="files/abc").name)
    vectors: Any = {"file_name": "files/abc"}
    yield "batches.create", lambda: batches.create(model=CHAT, src="files/abc")
    yield "batches.create_embeddings", lambda: batches.create_embeddings(model=VECTORS, src=vectors)
    yield "batches.list", lambda: list(batches.list())
    yield "batches.get", lambda: batches.get(name=batch)
    yield "batches.cancel", lambda: batches.cancel(name=batch)
    yield "batches.delete", lambda: batches.delete(name=batch)


def _stores(client: Client) -> Iterator[tuple[str, Call]]:
    stores, text = client.file_search_stores, {"mime_type": "text/plain"}
    store = str(stores.create(config={"display_name": "d"}).name)
    yield "file_search_stores.create", stores.create
    yield "file_search_stores.list", lambda: list(stores.list())
    yield "file_search_stores.get", lambda: stores.get(name=store)
    yield (
        "file_search_stores.upload_to_file_search_store",
        lambda: stores.upload_to_file_search_store(
            file_search_store_name=store,
            file=_file(),
            config=text,  # type: ignore[arg-type]
        ),
    )
    yield (
        "file_search_stores.import_file",
        lambda: stores.import_file(file_search_store_name=store, file_name="files/abc"),
    )
    yield (
        "file_search_stores.download_media",
        lambda: stores.download_media(media_id=f"{store}/media/m"),
    )
    yield "documents.list", lambda: list(stores.documents.list(parent=store))
    yield "documents.get", lambda: stores.documents.get(name=f"{store}/documents/d")
    yield "documents.delete", lambda: stores.documents.delete(name=f"{store}/documents/d")
    for name, kind in (
        ("upload/operations", types.UploadToFileSearchStoreOperation),
        ("operations", types.ImportFileOperation),
    ):
        operation: Any = kind(name=f"{store}/{name}/o")
        yield f"operations.get {name}", lambda each=operation: client.operations.get(each)
    yield "file_search_stores.delete", lambda: stores.delete(name=store, config={"force": True})


def _models(client: Client) -> Iterator[tuple[str, Call]]:
    models = client.models
    video = types.GenerateVideosOperation(name="models/veo-3/operations/o")
    data = types.TuningDataset(examples=[types.TuningExample(text_input="a", output="b")])
    yield "models.generate_content", lambda: models.generate_content(model=CHAT, contents="x")
    yield (
        "models.generate_content_stream",
        lambda: list(models.generate_content_stream(model=CHAT, contents="x")),
    )
    yield "models.count_tokens", lambda: models.count_tokens(model=CHAT, contents="x")
    yield "models.embed_content", lambda: models.embed_content(model=VECTORS, contents="x")
    yield "models.list", lambda: list(models.list())
    yield "models.list tuned", lambda: list(models.list(config={"query_base": False}))
    yield "models.get", lambda: models.get(model=CHAT)
    yield "operations.get", lambda: client.operations.get(video)
    yield (
        "tunings.tune",
        lambda: client.tunings.tune(base_model="models/gemini-1.5", training_dataset=data),
    )
    yield "auth_tokens.create", lambda: client.auth_tokens.create(config={"uses": 1})
    tuned = str(next(iter(models.list(config={"query_base": False}))).name)
    yield "tunings.get", lambda: client.tunings.get(name=tuned)
    yield "tunings.cancel", lambda: client.tunings.cancel(name=tuned)
    yield "models.update", lambda: models.update(model=tuned, config={"display_name": "x"})
    yield "models.delete", lambda: models.delete(model=tuned)


def _agents(client: Client) -> Iterator[tuple[str, Call]]:
    interactions: Any = client.interactions
    interaction = interactions.create(model=CHAT, input="x").id
    yield "interactions.create", lambda: interactions.create(model=CHAT, input="x")
    yield "interactions.get", lambda: interactions.get(interaction)
    yield "interactions.cancel", lambda: interactions.cancel(interaction)
    tokens = interactions.auth_tokens
    yield "interactions.auth_tokens.create", lambda: tokens.create(interaction)
    yield (
        "interactions.auth_tokens.delete",
        lambda: tokens.delete(interaction_id=interaction, auth_token="t"),
    )
    yield "interactions.delete", lambda: interactions.delete(interaction)
    yield from _created(
        client,
        {
            "agents": {"agent_config": {"type": "antigravity"}},
            "environments": {},
            "credentials": {
                "type": "environment_variable",
                "id": "x",
                "injection_location": "header",
                "value": "v",
            },
            "voices": {"voice": {"type": "designed"}},
            "webhooks": {"uri": "https://example.com", "subscribed_events": ["batch.succeeded"]},
            "triggers": {
                "schedule": "0 * * * *",
                "time_zone": "UTC",
                "interaction": {"agent": "a", "input": "x"},
            },
        },
    )
    decision: dict[str, Any] = {"model": CHAT, "input": "x", "questions": {}}
    decisions: Any = client.decisions
    yield "decisions.create", lambda: decisions.create(**decision)


def _created(client: Client, bodies: dict[str, dict[str, Any]]) -> Iterator[tuple[str, Call]]:
    """The methods of resources that can be created, with the ids of what is created."""
    for name, body in bodies.items():
        resource: Any = getattr(client, name)
        id_ = resource.create(**body).id
        yield f"{name}.create", lambda r=resource, b=body: r.create(**b)
        yield f"{name}.list", lambda r=resource: r.list()
        yield f"{name}.get", lambda r=resource, i=id_: r.get(i)
        if name in ("credentials", "webhooks", "triggers"):
            change = {"display_name": "y"} if name == "triggers" else {"name": "y"}
            change = {"type": body["type"]} if name == "credentials" else change
            yield f"{name}.update", lambda r=resource, i=id_, c=change: r.update(i, **c)
        if name == "webhooks":
            yield "webhooks.ping", lambda r=resource, i=id_: r.ping(i)
            yield (
                "webhooks.rotate_signing_secret",
                lambda r=resource, i=id_: r.rotate_signing_secret(i),
            )
        if name == "triggers":
            yield "triggers.run", lambda r=resource, i=id_: r.run(i)
            yield "triggers.list_executions", lambda r=resource, i=id_: r.list_executions(i)
        if name == "environments":
            yield "environments.files.list", lambda r=resource, i=id_: r.files.list(i, "src")
        yield f"{name}.delete", lambda r=resource, i=id_: r.delete(i)
