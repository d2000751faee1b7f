"""`webhooks:` of gateway.yaml: who gets events."""

from __future__ import annotations

from msgspec import Struct, field

from engine.config import keys
from engine.config.keys import default
from engine.source.problem import Path
from engine.values.trees import Section


class Webhook(Struct, frozen=True):
    """A server that gets events at `url`. Each of the `secrets` signs them. `timeout` is in
    seconds."""

    name: str
    url: str
    secrets: tuple[str, ...] = field(name="secret")
    timeout: float = default("webhooks.*.timeout")
    at: Path = ()

    def __repr__(self) -> str:
        return f"Webhook({self.name!r}, {self.url!r})"  # without the secrets


def read_webhook(name: str, entry: Section) -> Webhook:
    """An entry of `webhooks:`."""
    values = keys.fill(entry, "webhooks.*")
    secret = values["secret"]
    return Webhook(
        name=name,
        url=values["url"],
        secrets=(secret,) if isinstance(secret, str) else tuple(secret),
        timeout=values["timeout"],
        at=("webhooks", name),
    )
