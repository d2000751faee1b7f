"""The outbox: messages that wait for their webhooks, each a file of a folder on disk.

Any process of any gateway with the folder may put a message; one process at a time delivers, which
has the lock of the folder. A message outlives all of them.

    draft       written before its event is certain; confirmed or discarded at once, and taken for
                confirmed when its process was killed in between
    message     waits for its webhook, with the number of attempts and the time of the next
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

import orjson
from msgspec import Struct
from msgspec.structs import asdict, replace

from engine.machine.worker_locks import try_lock

MAX_MESSAGES = 1_000
"""The messages that wait at a time, those of all webhooks together; further ones are refused."""

_DRAFT, _MESSAGE, _PART = ".draft", ".message", ".part"
_DRAFT_SECONDS = 60.0
"""The age after which the process of a draft has been killed."""


class Message(Struct, frozen=True):
    """An event for one webhook, by the `id` that receivers know it by, its `body` a JSON text.

    `created` and `due` are in Unix seconds: when the event was, and the time of the next attempt;
    `attempts` have failed.
    """

    id: str
    webhook: str
    body: str
    created: float
    due: float = 0.0
    attempts: int = 0


class OutboxFull(Exception):
    """Too many messages wait."""


class Outbox:
    """The messages in `folder`, which is made if it does not exist. Raises OSError if that is not
    possible."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._clock = clock
        self._lock: int | None = None

    def draft(self, message: Message) -> Path:
        """Write a message that is not sent before it is confirmed. Raises OutboxFull and
        OSError."""
        if len(self._files(_DRAFT, _MESSAGE)) >= MAX_MESSAGES:
            raise OutboxFull
        path = self._folder / f"{message.id}.{message.webhook}.{os.getpid()}{_DRAFT}"
        path.write_bytes(orjson.dumps(asdict(message)))
        return path

    def confirm(self, draft: Path) -> None:
        """Let a draft be sent."""
        message_id, webhook, *_ = draft.name.split(".")
        draft.rename(self._folder / f"{message_id}.{webhook}{_MESSAGE}")

    def discard(self, draft: Path) -> None:
        """Forget a draft."""
        draft.unlink(missing_ok=True)

    def leads(self) -> bool:
        """Whether this process delivers, from the first call that returns True until `close`."""
        if self._lock is None:
            self._lock = try_lock(self._folder / "lock")
        return self._lock is not None

    def close(self) -> None:
        """Let another process deliver."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def messages(self, webhook: str) -> list[Message]:
        """Those of a webhook, the oldest first. A file that is not a message is removed."""
        messages = (self._read(path) for path in self._files(f".{webhook}{_MESSAGE}"))
        return sorted(filter(None, messages), key=lambda message: (message.created, message.id))

    def update(self, message: Message, due: float) -> None:
        """Note a failed attempt, and the time of the next one."""
        path = self._path(message)
        part = path.with_suffix(_PART)
        changed = replace(message, due=due, attempts=message.attempts + 1)
        part.write_bytes(orjson.dumps(asdict(changed)))
        part.rename(path)

    def remove(self, message: Message) -> None:
        """Forget a message, which was delivered or given up."""
        self._path(message).unlink(missing_ok=True)

    def count(self) -> int:
        """The number of messages that wait."""
        return len(self._files(_MESSAGE))

    def adopt_drafts(self) -> None:
        """Confirm the drafts of processes that were killed."""
        for draft in self._files(_DRAFT):
            with suppress(FileNotFoundError):
                if self._clock() - draft.stat().st_mtime > _DRAFT_SECONDS:
                    self.confirm(draft)

    def remove_others(self, webhooks: Collection[str]) -> int:
        """Remove the messages of webhooks other than these; returns their number."""
        removed = 0
        for path in self._files(_MESSAGE):
            if path.name.split(".")[1] not in webhooks:
                path.unlink(missing_ok=True)
                removed += 1
        return removed

    def _path(self, message: Message) -> Path:
        return self._folder / f"{message.id}.{message.webhook}{_MESSAGE}"

    def _files(self, *ends: str) -> list[Path]:
        return [path for path in self._entries() if path.name.endswith(ends)]

    def _entries(self) -> Iterator[Path]:
        with suppress(FileNotFoundError):  # somebody has removed the folder
            yield from self._folder.iterdir()

    def _read(self, path: Path) -> Message | None:
        try:
            return Message(**orjson.loads(path.read_bytes()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError):  # cut by a full disk or a power failure
            path.unlink(missing_ok=True)
            return None
