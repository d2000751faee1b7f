"""Lists of addresses and networks in gateway.yaml, with a problem for each that is not valid."""

from __future__ import annotations

from collections.abc import Iterable

from engine.source.problem import Findings, Path, Source
from engine.values.client_address import Network, networks


def read_networks(
    texts: Iterable[str], at: Path, source: Source, findings: Findings
) -> tuple[Network, ...]:
    """The networks of a list that stands at `at`; those that are not valid are left out."""
    valid: list[Network] = []
    for index, text in enumerate(texts):
        try:
            valid += networks([text])
        except ValueError as error:
            findings.error(source, (*at, index), "MW104", str(error))
    return tuple(valid)
