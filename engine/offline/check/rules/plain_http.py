"""Requests and credentials that cross a network unencrypted."""

from __future__ import annotations

from engine.offline.check.audit import AuditCase, is_loopback_url


def check(case: AuditCase) -> None:
    for upstream in case.config.upstreams.values():
        if _is_open(upstream.url):
            message = f"upstream '{upstream.name}' is called over plain http"
            case.warn((*upstream.at, "url"), "MW401", message, "use https")
        if any(_is_open(credential.secrets_go_to) for credential in upstream.credentials):
            message = f"the secret of upstream '{upstream.name}' is sent over plain http"
            case.warn(upstream.at, "MW401", message, "use https for the token server")
    for policy in case.listed_policies:
        if policy.name == "guard" and _is_open(policy.options["webhook"]):
            message = "the texts of requests or answers are sent to this webhook over plain http"
            case.warn((*policy.at, "webhook"), "MW401", message, "use https")
    for webhook in case.config.webhooks.values():
        if _is_open(webhook.url):
            message = f"webhook '{webhook.name}' is called over plain http"
            case.warn((*webhook.at, "url"), "MW401", message, "use https")


def _is_open(url: str) -> bool:
    return url.startswith("http://") and not is_loopback_url(url)
