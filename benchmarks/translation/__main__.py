"""The command."""

from __future__ import annotations

import sys

from benchmarks.translation import counts, engine, gateway, sizes, state

if __name__ == "__main__":
    part, *arguments = sys.argv[1:]
    parts = {
        "engine": engine.measure,
        "counts": counts.measure,
        "gateway": gateway.measure,
        "sizes": sizes.measure,
        "state": state.measure,
    }
    parts[part](*map(int, arguments))
