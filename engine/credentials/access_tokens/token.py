"""A fetched token, and the failure to get one."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

REFRESH = 3600.0
"""Seconds after which a token without an expiry is fetched again: its file may have changed."""


@dataclass(frozen=True, slots=True)
class Token:
    """A fetched token: its texts by name. `fetched` and `expires` are Unix seconds."""

    values: Mapping[str, str] = field(repr=False)
    fetched: float
    expires: float = math.inf

    def renew_at(self, share: float) -> float:
        """The Unix time at which a `share` of its lifetime is over."""
        return self.fetched + share * min(self.expires - self.fetched, REFRESH / share)

    def dump(self) -> bytes:
        """The token as JSON, with its secrets."""
        expires = None if math.isinf(self.expires) else self.expires
        document = {"values": self.values, "fetched": self.fetched, "expires": expires}
        return json.dumps(document).encode()

    @classmethod
    def load(cls, data: bytes) -> Token:
        """The token of such JSON. Raises ValueError for any other."""
        try:
            document = json.loads(data)
            expires = document["expires"]
            values = {str(name): str(value) for name, value in document["values"].items()}
            fetched = float(document["fetched"])
            return cls(values, fetched, math.inf if expires is None else float(expires))
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError("this is not a token") from error


class CredentialUnavailable(Exception):
    """There is no token to send. `words` are the reason, for callers too; `detail` adds files,
    variables and addresses for operators, "" for none; neither has a secret. `lasting`: a retry
    does not help until the configuration changes."""

    def __init__(self, words: str, detail: str = "", *, lasting: bool = False) -> None:
        super().__init__(f"{words}: {detail}" if detail else words)
        self.words = words
        self.detail = detail
        self.lasting = lasting
