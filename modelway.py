"""The command `modelway`, for which `engine` must be Modelway's package and not another's."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    """Run the command, or say in one sentence what stands in place of its package."""
    spec = find_spec("engine")
    origin = spec.origin if spec is not None else None
    own = Path(__file__).resolve().parent / "engine" / "__init__.py"
    if origin is None or Path(origin).resolve() != own or not _is_ours(own):
        sys.exit(_shadowed(origin))
    import_module("engine.cli").main()


def _is_ours(file: Path) -> bool:
    """Whether another distribution has not replaced the file, as pip lets it, by its own."""
    return file.read_bytes().startswith(b'"""Modelway,')


def _shadowed(origin: str | None) -> str:
    others = sorted({*packages_distributions().get("engine", ())} - {"modelway"})
    owner = f"of {' and '.join(others)} " if others else ""
    fault = "stands in place of Modelway's package `engine`"
    return (
        f"modelway: {f'{origin} {owner}{fault}' if origin else 'its package `engine` is missing'}: "
        "install Modelway in an environment of its own, as `uv tool install modelway` and pipx do."
    )


if __name__ == "__main__":
    main()
