"""The methods of the vendors' SDKs that send a request, and which of them the documents have."""

from __future__ import annotations

import re

from engine.spec.document.path_templates import shape
from tests.support.documents import shipped
from tools.sdk_operations import SdkOperation, genai, generated, node

OPENAI = ("openai", "openai-files", "openai-responses", "openai-media", "openai-tuning")
DOCUMENTS = {
    "openai": (*OPENAI, "openai-agents"),
    "anthropic": ("openai", "anthropic", "anthropic-files", "anthropic-agents"),
}
KEYS = {
    "beta.realtime.sessions.create",
    "beta.realtime.transcription_sessions.create",
    "realtime.translations.client_secrets.create",
}
"""The operations that would hand out a key of the vendor: no document has them on purpose."""


def served(package: str) -> set[tuple[str, str]]:
    """Methods and shapes of paths of the documents for an SDK."""
    return {
        (operation.method, shape(operation.path))
        for name in DOCUMENTS[package]
        for operation in shipped(name)[0].operations.values()
    }


def missing(package: str) -> list[SdkOperation]:
    """The operations that are not administration and that no document has."""
    documents = served(package)
    return [
        each
        for each in generated(package)
        if not each.is_administration
        and (each.verb, shape(each.path.removeprefix("/v1"))) not in documents
    ]


def test_the_documents_have_every_operation_of_openai_but_those_of_keys() -> None:
    assert {each.method for each in missing("openai")} == KEYS
    assert sum(not each.is_administration for each in generated("openai")) >= 240


def test_the_documents_lack_the_administration_of_anthropic_alone() -> None:
    administration = re.compile(r"(beta\.)?(compliance|tunnels|user_profiles)\.")
    others = [each.method for each in missing("anthropic") if not administration.match(each.method)]
    assert others == ["beta.messages.batches.results", "messages.batches.results"]  # an address


def test_an_operation_says_what_it_sends() -> None:
    by_method = {each.method: each for each in generated("openai")}
    upload = by_method["files.create"]
    assert (upload.verb, upload.path, upload.kind) == ("POST", "/files", "multipart")
    assert upload.body == ("file", "purpose", "expires_after")
    assert by_method["files.list"].query == ("after", "limit", "order", "purpose")


def test_both_generations_of_google_genai_are_read() -> None:
    methods = {each.method for each in genai()}
    assert {"caches.create", "files._create", "interactions.create", "webhooks.ping"} <= methods
    assert len(methods) >= 75


def test_the_text_of_nodes_sdk_is_read(tmp_path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "node_modules" / "openai" / "resources"
    folder.mkdir(parents=True)
    call = "return this._client.get((0, path_1.path) `/files/${fileID}`, {});"
    text = f"class Files {{\n    retrieve(fileID, options) {{\n        {call}\n    }}\n}}\n"
    (folder / "files.js").write_text(text)
    assert [(o.method, o.verb, o.path) for o in node(tmp_path)] == [
        ("files.retrieve", "GET", "/files/{fileID}")
    ]
