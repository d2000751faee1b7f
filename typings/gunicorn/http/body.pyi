from typing import Any

class Body:
    reader: Any
    def read(self, size: int | None = ...) -> bytes: ...
