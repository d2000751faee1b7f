"""A vendor that keeps objects by account, behind a gateway: files, batches, stored responses.

`Vendor.speak` answers for a Recorder. The account is the bearer token, whatever the path says
before the last `/v1`: an id of another account is a 404 that repeats it, as real vendors do.
"""

from __future__ import annotations

import json
import re
import socket
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urlsplit

from engine.spec.bodies.multipart import boundary_of, parse
from tests.support.recording import ReceivedRequest, answer

NUMBERS = count(1)


@dataclass
class Vendor:
    """The objects by account and collection, in the order in which they were made."""

    url: str = ""
    accounts: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)

    def speak(self, received: ReceivedRequest, sock: socket.socket) -> None:
        """Answer one request."""
        target = urlsplit(received.target)
        path = re.sub(r"^.*?/v1", "", target.path)
        query = {name: values[0] for name, values in parse_qs(target.query).items()}
        account = (received.values("authorization") or ["Bearer nobody"])[0].split()[-1]
        store = self.accounts.setdefault(account, {})
        status, body = self._route(received, path, query, store, target.path)
        if isinstance(body, bytes):
            kind = "text/event-stream" if body.startswith(b"event:") else "application/octet-stream"
            answer(body, [f"Content-Type: {kind}"])(received, sock)
            return
        data = json.dumps(body).encode()
        answer(data, status=status)(received, sock)

    def _route(
        self,
        received: ReceivedRequest,
        path: str,
        query: dict[str, str],
        store: dict[str, dict[str, Any]],
        full: str,
    ) -> tuple[int, Any]:
        parts = path.strip("/").split("/")
        name, rest = parts[0], parts[1:]
        kept = store.setdefault(name, {})
        if received.line.split()[0] == "POST" and not rest:
            return self._make(name, received, kept, store, full)
        if not rest:
            return 200, self._list(name, kept, query)
        found = kept.get(f"files/{rest[0]}" if name == "pictures" else rest[0])
        if found is None:
            return _missing(rest[0])
        if received.line.split()[0] == "DELETE":
            del kept[found["id"]]
            return 200, {"id": found["id"], "deleted": True}
        if rest[1:] == ["content"]:
            line = {"custom_id": "a", "response": {"body": {"id": next(iter(kept)), "file": 1}}}
            return 200, json.dumps(line).encode() + b"\n" + b'{"error": null}'
        return 200, found

    def _make(
        self,
        name: str,
        received: ReceivedRequest,
        kept: dict[str, Any],
        store: dict[str, dict[str, Any]],
        full: str,
    ) -> tuple[int, Any]:
        number = next(NUMBERS)
        if name == "files":
            content_type = received.values("content-type")[0]
            parts = parse(received.body, boundary_of(content_type))
            made = {"id": f"file-{number:08x}", "filename": parts[-1].filename, "object": "file"}
        elif name == "pictures":
            body = json.loads(received.body)
            made = {"id": f"files/pic{number}", "name": f"files/pic{number}"}
            made["displayName"] = body.get("displayName")
            made["uri"] = f"https://vendor.example/v1beta/files/pic{number}"
        elif name == "batches":
            body = json.loads(received.body)
            if body["input_file_id"] not in store.get("files", {}):
                return _missing(body["input_file_id"])
            made = {"id": f"batch_{number:06d}", "input_file_id": body["input_file_id"]}
            made["metadata"] = body.get("metadata")
            made["results_url"] = f"{self.url}{full}/batch_{number:06d}/content"
        elif name == "responses":
            body = json.loads(received.body)
            previous = body.get("previous_response_id")
            if previous is not None and previous not in kept:
                return _missing(previous)
            made = {"id": f"resp_{number:048x}", "previous_response_id": previous}
            made["model"], made["output"] = body["model"], []
        else:
            return 404, {"error": {"message": f"no {name}", "type": "x", "code": "x"}}
        kept[made["id"]] = made
        if name == "responses" and json.loads(received.body).get("stream"):
            events = [
                ("response.created", {"type": "response.created", "response": made}),
                (
                    "response.output_text.delta",
                    {"type": "response.output_text.delta", "delta": "a"},
                ),
                ("response.completed", {"type": "response.completed", "response": made}),
            ]
            text = "".join(f"event: {each}\ndata: {json.dumps(data)}\n\n" for each, data in events)
            return 200, text.encode()
        return 200, made

    def _list(self, name: str, kept: dict[str, Any], query: dict[str, str]) -> Any:
        rows, size = [*kept.values()], int(query.get("limit", 20))
        if name == "pictures":
            start = int(query.get("pageToken") or 0)
            page: dict[str, Any] = {"files": rows[start : start + size]}
            if start + size < len(rows):
                page["nextPageToken"] = str(start + size)
            return page
        ids = [row["id"] for row in rows]
        start = ids.index(query["after"]) + 1 if "after" in query else 0
        chosen = rows[start : start + size]
        return {
            "object": "list",
            "data": chosen,
            "first_id": chosen[0]["id"] if chosen else None,
            "last_id": chosen[-1]["id"] if chosen else None,
            "has_more": start + size < len(rows),
        }


def _missing(vendor_id: str) -> tuple[int, Any]:
    error = {"message": f"No such object: {vendor_id}", "type": "invalid_request_error"}
    return 404, {"error": {**error, "param": "id", "code": None}}
