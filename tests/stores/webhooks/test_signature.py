"""Signatures, judged by the library of Standard Webhooks."""

from __future__ import annotations

import time

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from engine.stores.webhooks.signature import key_of, signed_headers
from tests.support.each import each

OLD, NEW = "whsec_" + "b2xk" * 8, "whsec_" + "bmV3" * 8
BODY = '{"type": "limit.warning", "text": "Füße"}'.encode()


def test_each_key_signs():
    headers = dict(signed_headers([key_of(NEW), key_of(OLD)], "msg_1", int(time.time()), BODY))
    for secret in (OLD, NEW):
        assert Webhook(secret).verify(BODY, headers)["text"] == "Füße"
    with pytest.raises(WebhookVerificationError):
        Webhook(OLD).verify(BODY + b" ", headers)


@each("text", ["", "whsec_", "b2xk" * 8, "whsec_abc", "whsec_" + "b2xk" * 5, "whsec_" + "YQ" * 90])
def test_other_texts_are_no_secrets(text):
    with pytest.raises(ValueError, match="a secret is whsec_ and 24 to 64 bytes in base64"):
        key_of(text)
