"""AWS signatures of requests that arrived, verified by the vendor's own library."""

from __future__ import annotations

import datetime
from unittest import mock

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.support.recording import ReceivedRequest


def signed_names(received: ReceivedRequest) -> list[str]:
    """The headers that the signature covers."""
    (authorization,) = received.values("authorization")
    return authorization.partition("SignedHeaders=")[2].partition(",")[0].split(";")


def is_signed(
    received: ReceivedRequest, access_key: str, secret_key: str, region: str, service: str
) -> bool:
    """Whether a request's signature is the one that botocore computes with these keys."""
    (authorization,) = received.values("authorization")
    (date,) = received.values("x-amz-date")
    (host,) = received.values("host")
    ours = AWSRequest(
        received.line.split(" ")[0], f"https://{host}{received.target}", data=received.body
    )
    for name in signed_names(received):
        if name not in ("host", "x-amz-date"):
            ours.headers[name] = ", ".join(received.values(name))
    ours.headers["host"] = host
    moment = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.UTC)
    with mock.patch.object(botocore.auth, "get_current_datetime", return_value=moment):
        keys = Credentials(access_key, secret_key)
        botocore.auth.SigV4Auth(keys, service, region).add_auth(ours)
    return str(ours.headers["authorization"]) == authorization
