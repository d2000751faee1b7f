"""The name of an upstream has four addresses, and then four others.

Law: no request is lost. 30 s after the change no request arrives at the old addresses, and all new
ones are used.
"""

from __future__ import annotations

from trials.fleet import moving_name
from trials.fleet.bed import Bed
from trials.fleet.report import Report

TITLE = "the DNS name of an upstream changes to other addresses"


def run(bed: Bed) -> Report:
    return moving_name.measure(bed, 30.0)
