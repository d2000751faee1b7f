"""The part of gateway.yaml that says where things are kept, and what models cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from engine.config import model
from engine.source.problem import Findings, Source
from engine.values import units
from engine.values.usage import Price, price_of

_SQLITE = "sqlite:///"
_RECORDS = (_SQLITE, "postgresql+psycopg://")
_COUNTERS = ("redis://", "rediss://", "unix://")


def stores(
    said: Mapping[str, Any], folder: FilePath, source: Source, findings: Findings
) -> model.Stores:
    """`stores:`, its paths made absolute from the config's folder."""
    records, counters = said.get("records"), said.get("counters", "memory")
    if records is not None and not records.startswith(_RECORDS):
        hint = "sqlite:///var/modelway.db, or postgresql+psycopg://user@host/name"
        if (scheme := records.partition("://")[0]) in ("postgres", "postgresql"):
            hint = f"write postgresql+psycopg:// in place of {scheme}://"
        at = ("stores", "records")
        findings.error(source, at, "MW104", "'records' is no database that is known here", hint)
    elif records is not None and records.startswith(_SQLITE):
        records = f"{_SQLITE}{folder / records.removeprefix(_SQLITE)}"
    if counters != "memory" and not counters.startswith(_COUNTERS):
        at = ("stores", "counters")
        hint = "memory, or redis://host:6379/0"
        findings.error(source, at, "MW104", "'counters' is no store that is known here", hint)
    return model.Stores(
        records=records,
        counters=counters,
        counters_timeout=_counters_timeout(said, source, findings),
        on_store_failure=said.get("on_store_failure", "local"),
        machines=said.get("machines", 1),
        token_ttl=units.seconds(said.get("token_ttl", "10s")),
        journal=folder / said.get("journal", "var/journal"),
        retention=units.seconds(said["retention"]) if "retention" in said else None,
    )


def _counters_timeout(said: Mapping[str, Any], source: Source, findings: Findings) -> float:
    timeout = units.seconds(said.get("counters_timeout", "250ms"))
    if not 0.001 <= timeout <= 60:
        at = ("stores", "counters_timeout")
        message = f"'counters_timeout' is {timeout:g}s, requests wait so long for each answer"
        findings.error(source, at, "MW104", message, "between 1ms and 60s; 250ms if in doubt")
    return timeout


def prices(said: Mapping[str, Any]) -> dict[str, Price]:
    """`prices:` by model's name or wildcard."""
    return {name: price_of(price) for name, price in said.items()}
