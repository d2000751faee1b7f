"""The instructions of a whole worker with its callers and vendors, relayed and translated."""

from __future__ import annotations

from benchmarks.counts.__main__ import instructions
from benchmarks.translation.chats import LANGUAGES

_WORKLOAD = "benchmarks.translation.counted"


def measure() -> None:
    """Print the instructions of relayed chats and events, without and with translation in the
    config, and what a translation adds."""
    without = instructions(_WORKLOAD, "off")
    counts = instructions(_WORKLOAD)
    for unit in ("chat", "event"):
        print(f"instructions per {unit}, thousands")
        for source in LANGUAGES:
            name = f"{source.name} {source.name} {unit}"
            relayed = counts[name]
            without_text = f"({without[name] / 1000:,.1f} where nothing is translated)"
            print(f"  {source.name:<38}{relayed / 1000:9,.1f} relayed {without_text}")
            for target in LANGUAGES:
                if target is not source:
                    more = counts[f"{source.name} {target.name} {unit}"] - relayed
                    print(f"    -> {target.name:<33}{more / 1000:9,.1f} more")
