from typing import Any

class Config:
    """Every setting is an attribute."""

    def __getattr__(self, name: str) -> Any: ...
    def set(self, name: str, value: Any) -> None: ...
