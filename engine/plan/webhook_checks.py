"""Checks of `webhooks`: their URLs and secrets, with what sends and signs."""

from __future__ import annotations

from engine.config.config import Config
from engine.source.problem import Findings
from engine.stores.webhooks.signature import key_of
from engine.upstream.post_client import split_query

_HINT = "`echo whsec_$(openssl rand -base64 32)` makes one; write it into a variable"


def check_webhooks(config: Config, findings: Findings) -> None:
    """Note webhooks that cannot be called, or whose events could not be signed. No message shows a
    secret or a URL."""
    for webhook in config.webhooks.values():
        try:
            split_query(webhook.url)
        except ValueError as error:
            message = str(error).replace("an upstream", "a webhook")
            findings.error(config.source, (*webhook.at, "url"), "MW513", message)
        for secret in webhook.secrets:
            try:
                key_of(secret)
            except ValueError as error:
                findings.error(config.source, (*webhook.at, "secret"), "MW514", str(error), _HINT)
