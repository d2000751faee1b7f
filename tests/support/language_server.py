"""A client of yaml-language-server, which editors use for YAML: diagnostics and completion of a
file, over standard input and output (LSP 3.17)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CUSTOM_TAGS = [
    *("!replace mapping", "!replace sequence", "!append sequence", "!prepend sequence"),
    "!remove scalar",
]


def program() -> str | None:
    """The program, from the path or from MODELWAY_YAML_LANGUAGE_SERVER; None if it is missing."""
    return os.environ.get("MODELWAY_YAML_LANGUAGE_SERVER") or shutil.which("yaml-language-server")


class LanguageServer:
    """A running server. A call blocks until its answer is there."""

    def __init__(self, process: subprocess.Popen[bytes], settings: Mapping[str, Any]) -> None:
        self._process = process
        self._settings = settings
        self._count = 0
        self._diagnostics: dict[str, list[dict[str, Any]]] = {}

    def diagnostics(self, file: Path) -> list[str]:
        """The messages about a file, each with its line from 1."""
        uri = self._open(file)
        while uri not in self._diagnostics:
            self._read()
        return [
            f"{d['range']['start']['line'] + 1}: {d['message']}" for d in self._diagnostics[uri]
        ]

    def completions(self, file: Path, line: int, column: int) -> list[str]:
        """What is suggested at a place, from 1."""
        uri = self._open(file)
        place = {"line": line - 1, "character": column - 1}
        answer = self.request(
            "textDocument/completion", {"textDocument": {"uri": uri}, "position": place}
        )
        items = answer["items"] if isinstance(answer, dict) else answer
        return [item["label"] for item in items]

    def request(self, method: str, parameters: Mapping[str, Any]) -> Any:
        """The result of a request."""
        self._count += 1
        self._write({"id": self._count, "method": method, "params": parameters})
        while True:
            message = self._read()
            if message.get("id") == self._count and "method" not in message:
                return message["result"]

    def notify(self, method: str, parameters: Mapping[str, Any]) -> None:
        """Send a notification, which has no answer."""
        self._write({"method": method, "params": parameters})

    def _open(self, file: Path) -> str:
        uri = file.absolute().as_uri()
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": file.read_text("utf-8")}
        self._diagnostics.pop(uri, None)
        self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def _write(self, message: Mapping[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        """The next message; requests of the server are answered."""
        stream = self._process.stdout
        assert stream is not None
        size = 0
        while (line := stream.readline().strip()) or not size:
            assert self._process.poll() is None or line, "the language server has ended"
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        message: dict[str, Any] = json.loads(stream.read(size))
        if message.get("method") == "textDocument/publishDiagnostics":
            self._diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif "method" in message and "id" in message:
            self._write({"id": message["id"], "result": self._answer(message)})
        return message

    def _answer(self, message: Mapping[str, Any]) -> Any:
        if message["method"] != "workspace/configuration":
            return None
        items = message["params"]["items"]
        return [self._settings if item.get("section") == "yaml" else {} for item in items]


@contextmanager
def language_server(folder: Path, schemas: Mapping[str, str]) -> Iterator[LanguageServer]:
    """A server for the files of a folder; `schemas` maps schema files to the files they are for."""
    found = program()
    assert found is not None
    process = subprocess.Popen(
        [found, "--stdio"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    settings = {
        "schemas": {(folder / name).as_uri(): str(folder / file) for name, file in schemas.items()},
        "customTags": CUSTOM_TAGS,
        "schemaStore": {"enable": False},
        "validate": True,
        "completion": True,
    }
    server = LanguageServer(process, settings)
    try:
        capabilities = {"workspace": {"configuration": True}}
        start = {"processId": None, "rootUri": folder.as_uri(), "capabilities": capabilities}
        server.request("initialize", start)
        server.notify("initialized", {})
        server.notify("workspace/didChangeConfiguration", {"settings": {"yaml": settings}})
        yield server
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()
