"""`credential: {aws: {region: ...}}`: the signature of each request with keys of AWS (Signature
Version 4).

The keys are `access_key` and `secret_key`, those of `profile`, or what botocore finds: in the
environment, a profile, a web identity, the role of the container or of the instance.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import gevent

from engine.credentials.access_tokens.source import TokenSource
from engine.credentials.interface.credential import Context, CredentialKind, LiveCredential
from engine.credentials.interface.fetched import fetcher
from engine.credentials.interface.fixed import HeaderCredential
from engine.credentials.signatures.sigv4 import Keys, sign
from engine.values.trees import Json, Section
from engine.values.upstream_request import UpstreamRequest

_SERVICE = "bedrock"
_REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-[0-9]+")

_SCHEMA: Json = {
    "description": "Requests are signed with keys of AWS. {} uses the keys of the environment, a "
    "web identity, or the role of the container or instance.",
    "type": "object",
    "additionalProperties": False,
    "dependentRequired": {
        "access_key": ["secret_key"],
        "secret_key": ["access_key"],
        "session_token": ["access_key"],
    },
    "properties": {
        "region": {
            "description": "The region. Absent: the upstream's variable `region`, or the one in "
            "the host of its url.",
            "type": "string",
            "pattern": "^[a-z]{2,4}(-[a-z]+)+-[0-9]+$",
            "examples": ["us-east-1"],
        },
        "service": {
            "description": "The name of the service in signatures.",
            "type": "string",
            "pattern": "^[a-z0-9-]+$",
            "default": _SERVICE,
        },
        "profile": {
            "description": "The name of a section of ~/.aws/config.",
            "type": "string",
            "minLength": 1,
        },
        "access_key": {
            "description": "The id of an access key. Absent: keys are looked up.",
            "type": "string",
            "minLength": 1,
            "x-modelway": {"secret": "value"},
        },
        "secret_key": {
            "description": "The secret of the access key.",
            "type": "string",
            "minLength": 1,
            "x-modelway": {"secret": "value"},
        },
        "session_token": {
            "description": "The token of temporary keys.",
            "type": "string",
            "minLength": 1,
            "x-modelway": {"secret": "value"},
        },
    },
}


@dataclass(frozen=True, slots=True)
class AwsCredential:
    """Signs requests with these keys, or with those of the environment or the profile."""

    region: str
    service: str
    profile: str = ""
    keys: Keys | None = None
    kind: str = field(default="aws", init=False)
    header: str = field(default="authorization", init=False)
    parameter: str = field(default="", init=False)
    secrets_go_to: str = field(default="", init=False)

    @property
    def label(self) -> str:
        if self.keys is not None:
            return "aws keys of the config"
        return f"aws profile {self.profile}" if self.profile else "aws keys of the environment"

    @property
    def secrets(self) -> tuple[str, ...]:
        keys = self.keys
        if keys is None:
            return ()
        return tuple(filter(None, (keys.access_key, keys.secret_key, keys.session_token)))

    def open(self, folder: Path | None, changed: Callable[[], None]) -> LiveCredential:
        if self.keys is not None:
            return FixedKeys(self.keys, self.region, self.service)
        options = {"region": self.region} | ({"profile": self.profile} if self.profile else {})
        source = TokenSource(self.label, fetcher("aws", options, folder), changed)
        return FetchedKeys(source, self.region, self.service)

    def placeholder(self) -> LiveCredential:
        return HeaderCredential("aws", "authorization", "AWS4-HMAC-SHA256 Signature=made-later")


class FixedKeys:
    """Signs with keys of the config."""

    def __init__(
        self, keys: Keys, region: str, service: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._keys = keys
        self._region = region
        self._service = service
        self._clock = clock

    @property
    def secrets(self) -> tuple[str, ...]:
        return ()  # the secrets of the config are redacted anyway

    def apply(self, request: UpstreamRequest, timeout: float) -> None:
        sign(request, self._keys, self._region, self._service, self._clock(), gevent.sleep)

    def renew(self) -> bool:
        return False


class FetchedKeys:
    """Signs with the keys of a source."""

    def __init__(
        self,
        source: TokenSource,
        region: str,
        service: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._source = source
        self._region = region
        self._service = service
        self._clock = clock

    @property
    def secrets(self) -> list[str]:
        tokens = [token.values for token in self._source.tokens]
        return [t[n] for t in tokens for n in ("secret_key", "session_token") if t[n]]

    def apply(self, request: UpstreamRequest, timeout: float) -> None:
        keys = Keys(**self._source.get(timeout).values)
        sign(request, keys, self._region, self._service, self._clock(), gevent.sleep)

    def renew(self) -> bool:
        return self._source.renew()


def _read(section: Section, context: Context) -> AwsCredential:
    options: Mapping[str, str] = section["aws"]
    keys = None
    if "access_key" in options:
        names = ("access_key", "secret_key", "session_token")
        texts = {n: context.text(options[n], ("aws", n)) for n in names if n in options}
        keys = Keys(**texts)
        if "profile" in options:
            message = "'profile' and 'access_key' together"
            context.error(("aws", "profile"), message, "keep one")
    else:
        context.needs_extra("aws", "botocore", ("aws",))
    region = options.get("region") or context.variables.get("region") or _region_of(context.url)
    if not region:
        message = "the region is not known"
        context.error(("aws",), message, 'write region: us-east-1, or region: "${AWS_REGION}"')
    service = options.get("service", _SERVICE)
    return AwsCredential(region, service, options.get("profile", ""), keys)


def _region_of(url: str) -> str:
    """The region in the host of an endpoint: `bedrock-runtime.us-east-1.amazonaws.com`."""
    try:
        labels = (urlsplit(url).hostname or "").split(".")
    except ValueError:
        return ""
    return next((label for label in labels if _REGION.fullmatch(label)), "")


CREDENTIAL = CredentialKind(
    form="{aws: {}}",
    schema=_SCHEMA,
    read=_read,
)
