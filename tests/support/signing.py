"""Requests to sign, and botocore's signatures of them."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from unittest import mock

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from engine.credentials.signatures.sigv4 import Keys
from engine.values.upstream_request import UpstreamRequest

NOW = datetime.datetime(2015, 8, 30, 12, 36, tzinfo=datetime.UTC)
KEYS = Keys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")


@dataclass
class Chunks:
    """A body in chunks."""

    pieces: list[bytes]

    @property
    def size(self) -> int:
        return sum(map(len, self.pieces))

    def chunks(self) -> Iterator[bytes]:
        yield from self.pieces


def by_botocore(
    request: UpstreamRequest,
    keys: Keys,
    region: str,
    service: str,
    moment: datetime.datetime = NOW,
) -> dict[str, str | None]:
    """The headers of botocore's signature of a request at a moment."""
    body = request.body
    data = body if body is None or isinstance(body, bytes) else b"".join(body.chunks())
    theirs = AWSRequest(request.method, f"https://{request.host}{request.target}", data=data)
    for name, value in [("host", request.host), *request.headers]:
        theirs.headers.add_header(name, value)
    credentials = Credentials(keys.access_key, keys.secret_key, keys.session_token or None)
    with mock.patch.object(botocore.auth, "get_current_datetime", return_value=moment):
        botocore.auth.SigV4Auth(credentials, service, region).add_auth(theirs)
    names = ("authorization", "x-amz-date", "x-amz-security-token")
    return {name: theirs.headers[name] for name in names}
