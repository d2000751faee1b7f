"""TLS without verification of the certificate."""

from __future__ import annotations

from engine.offline.check.audit import AuditCase, is_loopback


def check(case: AuditCase) -> None:
    for upstream in case.config.upstreams.values():
        if not upstream.tls.verify and not is_loopback(upstream):
            message = f"'{upstream.name}': TLS is not verified, any server can get the credential"
            hint = "name the authority that signed the certificate: tls: {ca: ...}"
            case.warn((*upstream.at, "tls", "verify"), "MW411", message, hint)
