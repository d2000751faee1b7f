"""The resumable uploads of Google's clients at the mock."""

from __future__ import annotations

from urllib.parse import urlsplit

from falcon.testing import TestClient

from engine import dialects
from engine.mock.app import build
from tests.support.documents import shipped

KEY = {"x-goog-api-key": "secret"}


def test_a_file_comes_in_pieces_and_is_kept():
    client = TestClient(build([(shipped("gemini-files")[0], dialects.get("gemini"))], "secret"))
    headers = {
        **KEY,
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-type": "text/plain",
    }
    start = client.simulate_post("/upload/v1beta/files", headers=headers, json={})
    address = urlsplit(start.headers["x-goog-upload-url"])

    def send(command, body):
        return client.simulate_post(
            address.path,
            extras={"RAW_URI": f"{address.path}?{address.query}"},
            headers={"x-goog-upload-command": command, "content-type": "application/json"},
            body=body,
        )

    assert send("upload", b"hel").headers["x-goog-upload-status"] == "active"
    end = send("upload, finalize", b"lo")
    assert end.headers["x-goog-upload-status"] == "final"
    assert end.json["file"]["sizeBytes"] == "5"
    name = end.json["file"]["name"]
    assert client.simulate_get(f"/v1beta/{name}", headers=KEY).json["mimeType"] == "text/plain"
    assert client.simulate_get(f"/v1beta/{name}:download", headers=KEY).content == b"hello"
    assert send("upload, finalize", b"again").status_code == 404
