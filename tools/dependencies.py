"""What is installed with Modelway and its extras for operation, Modelway itself left out."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

EXTRAS = ("aws", "azure", "google", "otel", "parquet", "tokenizers")


def installed(name: str = "modelway", extras: tuple[str, ...] = EXTRAS) -> list[Distribution]:
    """The installed dependencies, direct and indirect, in the order of their names."""
    distributions: dict[tuple[str, str], Distribution] = {}
    _collect(name, extras, distributions)
    by_name = {
        key: entry for (key, _), entry in distributions.items() if key != canonicalize_name(name)
    }
    return [by_name[key] for key in sorted(by_name)]


def _collect(
    name: str, extras: tuple[str, ...], distributions: dict[tuple[str, str], Distribution]
) -> None:
    for extra in ("", *extras):
        key = (canonicalize_name(name), extra)
        if key in distributions:
            continue
        try:
            distributions[key] = distribution(name)
        except PackageNotFoundError:  # of another platform, or not installed
            continue
        for requirement in _requirements(distributions[key], extra):
            _collect(requirement.name, tuple(sorted(requirement.extras)), distributions)


def _requirements(entry: Distribution, extra: str) -> Iterator[Requirement]:
    for text in entry.requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield requirement
