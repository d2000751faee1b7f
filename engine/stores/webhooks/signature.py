"""The signature of a webhook's message, as Standard Webhooks has it
(https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Sequence

PREFIX = "whsec_"
MIN_BYTES, MAX_BYTES = 24, 64
"""The bytes of a secret."""


def key_of(secret: str) -> bytes:
    """The key in a secret: `whsec_` and 24 to 64 bytes in base64. ValueError for another form."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if not secret.startswith(PREFIX) or not MIN_BYTES <= len(key) <= MAX_BYTES:
        raise ValueError(f"a secret is {PREFIX} and {MIN_BYTES} to {MAX_BYTES} bytes in base64")
    return key


def signed_headers(
    keys: Sequence[bytes], message_id: str, timestamp: int, body: bytes
) -> list[tuple[str, str]]:
    """The headers of a message, with a signature for each key. `timestamp` is in Unix seconds."""
    content = f"{message_id}.{timestamp}.".encode() + body
    digests = [hmac.digest(key, content, "sha256") for key in keys]
    signatures = " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)
    return [
        ("webhook-id", message_id),
        ("webhook-timestamp", str(timestamp)),
        ("webhook-signature", signatures),
    ]
