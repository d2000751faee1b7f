"""A file of addresses that cannot be read: requests to its upstream fail until it can."""

from __future__ import annotations

from pathlib import Path

from engine.offline.check.audit import AuditCase
from engine.upstream.addresses.address_file import read_entries


def check(case: AuditCase) -> None:
    for upstream in case.config.upstreams.values():
        resolve = upstream.resolve
        if resolve is None or resolve.file is None:
            continue
        try:
            read_entries(Path(resolve.file))
        except OSError as error:
            file = Path(resolve.file).name
            reason = str(error) if error.errno is None else f"{file}: {error.strerror}"
            message = f"'{upstream.name}' has no addresses now: {reason}"
            hint = "its requests fail until the file has one host:port a line"
            case.warn((*upstream.at, "resolve", "file"), "MW445", message, hint)
