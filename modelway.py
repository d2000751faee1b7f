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
    own = Path(__file__).resolve().parent / "engine" / "__init__.py"
    if spec is None or spec.origin is None or Path(spec.origin).resolve() != own:
        sys.exit(_shadowed(spec.origin if spec is not None else None))
    try:
        run = import_module("engine.cli").main
    except (ImportError, AttributeError):
        if (import_module("engine").__doc__ or "").startswith("Modelway"):
            raise
        sys.exit(_shadowed(spec.origin))
    run()


def _shadowed(origin: str | None) -> str:
    others = sorted({*packages_distributions().get("engine", ())} - {"modelway"})
    owner = f"of {' and '.join(others)} " if others else ""
    place = f"{origin} " if origin else "nothing "
    return (
        f"modelway: {place}{owner}stands in place of Modelway's package `engine`: install Modelway "
        "in an environment of its own, as `uv tool install modelway` and pipx do."
    )


if __name__ == "__main__":
    main()
