"""Records of stored responses in memory."""

from __future__ import annotations


class ResponseRows:
    """Stored responses by key; `error` is raised by each use, if there is one."""

    def __init__(self) -> None:
        self.rows: dict[bytes, tuple[float, bytes]] = {}
        self.error: Exception | None = None

    def put(self, key: bytes, expires: float, data: bytes) -> None:
        self._fail()
        self.rows[key] = expires, data

    def claim(self, key: bytes, expires: float, data: bytes, now: float) -> bool:
        if self.get(key, now) is not None:
            return False
        self.put(key, expires, data)
        return True

    def get(self, key: bytes, now: float) -> bytes | None:
        self._fail()
        expires, data = self.rows.get(key, (0.0, b""))
        return data if expires > now else None

    def remove(self, key: bytes) -> None:
        self._fail()
        self.rows.pop(key, None)

    def size(self, prefix: bytes, now: float) -> int:
        self._fail()
        rows = ((key, *row) for key, row in self.rows.items())
        return sum(len(data) for key, end, data in rows if key.startswith(prefix) and end > now)

    def _fail(self) -> None:
        if self.error is not None:
            raise self.error
