"""An upstream with `resolve: {every: 5s}`: its name has four addresses, then four others, and the
old servers are killed 6 s later.

Law: no request is lost. 5 s after the change no request arrives at the old addresses, and all new
ones are used.
"""

from __future__ import annotations

from trials.fleet import moving_name
from trials.fleet.bed import Bed
from trials.fleet.report import Report

TITLE = "the addresses of an upstream with `resolve` change, and the old servers are killed"


def run(bed: Bed) -> Report:
    return moving_name.measure(bed, 5.0, kill=True, resolve={"every": "5s"})
