"""Credentials whose token is fetched, and sent in a header as `Bearer TOKEN`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path

from engine.credentials.access_tokens import helper_process
from engine.credentials.access_tokens.shared_token import SharedToken
from engine.credentials.access_tokens.source import Fetch, TokenSource
from engine.credentials.access_tokens.token import Token
from engine.credentials.interface.credential import LiveCredential
from engine.credentials.interface.fixed import HeaderCredential, set_header
from engine.values.trees import Section
from engine.values.upstream_request import UpstreamRequest

_VARIABLES = ("AWS_", "AZURE_", "CLOUDSDK_", "ECS_", "GCE_", "GOOGLE_", "IDENTITY_", "MSI_")


@dataclass(frozen=True, slots=True)
class FetchedCredential:
    """A credential whose token is fetched: `options` are JSON for `fetch` of the module `fetcher`,
    by default that of its `kind` in `credentials/fetchers/`; `headers` are sent with the token."""

    kind: str
    label: str
    options: Section = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    headers: tuple[tuple[str, str], ...] = ()
    secrets_go_to: str = ""
    fetcher: str = ""

    @property
    def header(self) -> str:
        return "authorization"

    @property
    def parameter(self) -> str:
        return ""

    def open(self, folder: Path | None, changed: Callable[[], None]) -> LiveCredential:
        fetch = fetcher(self.kind, self.options, folder, self.fetcher)
        return BearerToken(TokenSource(self.label, fetch, changed), self.headers)

    def placeholder(self) -> LiveCredential:
        return HeaderCredential(self.kind, "authorization", "Bearer fetched-token")


class BearerToken:
    """Sends `values["token"]` of the current token in the header Authorization."""

    def __init__(self, source: TokenSource, headers: Sequence[tuple[str, str]] = ()) -> None:
        self._source = source
        self._headers = headers

    @property
    def secrets(self) -> list[str]:
        return [token.values["token"] for token in self._source.tokens]

    def apply(self, request: UpstreamRequest, timeout: float) -> None:
        token = self._source.get(timeout).values["token"]
        set_header(request, "authorization", f"Bearer {token}")
        for name, value in self._headers:
            set_header(request, name, value)

    def renew(self) -> bool:
        return self._source.renew()


def fetcher(
    kind: str, options: Mapping[str, object], folder: Path | None, module: str = ""
) -> Fetch:
    """A function that fetches tokens of a kind in a helper process, with `fetch` of the module. The
    workers of `folder` share a token if its options and the environment variables of the vendors'
    libraries are the same."""
    fetch = partial(helper_process.fetch, module or f"engine.credentials.fetchers.{kind}", options)
    if folder is None:
        return lambda refused: fetch()
    variables = {name: v for name, v in os.environ.items() if name.startswith(_VARIABLES)}
    text = json.dumps([kind, options, variables], sort_keys=True)
    shared = SharedToken(folder, sha256(text.encode()).hexdigest()[:32])

    def get(refused: Token | None) -> Token:
        return shared.get(refused, fetch)

    return get
