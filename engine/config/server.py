"""`server:` of gateway.yaml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.config import hints, model
from engine.config.networks import read_networks
from engine.source.problem import Findings
from engine.source.reader import SourceDocument

_HOST = re.compile(r"[A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+(?:%\w+)?\]")


def server(section: Mapping[str, Any], source: SourceDocument, findings: Findings) -> model.Server:
    """`server:`; the problems of its values go to the findings."""
    values = dict(section)
    if "base_url" in values:
        values["base_url"] = values["base_url"].rstrip("/")
    if "trusted_proxies" in values:
        at = ("server", "trusted_proxies")
        values["trusted_proxies"] = read_networks(values["trusted_proxies"], at, source, findings)
    _check_listen(values.get("listen", ""), source, findings)
    return model.Server(**values)


def _check_listen(address: str, source: SourceDocument, findings: Findings) -> None:
    host = address.rpartition(":")[0]
    if address.startswith("unix:/") or _HOST.fullmatch(host):
        return
    message = "'listen' has no valid host before its port"
    at, form = ("server", "listen"), {"pattern": "."}
    hint = hints.hint("listen", address, form, ["string"])
    if source.reference(at):
        hint = hints.example("listen", form, ["string"])
    findings.error(source, at, "MW104", message, hint)
