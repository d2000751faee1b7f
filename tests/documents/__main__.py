"""`tox -e documents`: checks and serves companies' documents, and prints a row for each.

Without names it tries the corpus of `packages.py`; names are files. Exit status 1 if an operation
is off, a valid request is refused or changed, an invalid one let through, or a check fails.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.documents.packages import corpus
from tests.documents.requests import EXAMPLE, INVALID, VALID
from tests.documents.trial import Result, trial

_KINDS = ("crash", "error", "refused valid", "refused example", "changed", "let through")
_MAX_SHOWN = 3


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.documents", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--operations", type=int, default=40, help="the most of one document")
    options = parser.parse_args()
    rows = [(file.name, file.resolve()) for file in options.files] or corpus()
    failed = False
    print(_HEADER)
    for name, file in rows:
        if isinstance(file, str):
            print(f"{name}: {file}", flush=True)
            continue
        result = trial(file, options.operations)
        print(_row(name, result), flush=True)
        failed = failed or bool(result.failures or result.off)
    return int(failed)


_HEADER = (
    "| document | version | operations | CPU cold, s | cached, s | MB | off | sent valid, example, "
    "invalid | " + " | ".join(_KINDS) + " | not judged |\n" + "|---" * (9 + len(_KINDS)) + "|"
)


def _row(name: str, result: Result) -> str:
    sent = " ".join(str(result.sent[verdict]) for verdict in (VALID, EXAMPLE, INVALID))
    counts = " | ".join(str(len(result.failures.get(kind, ()))) for kind in _KINDS)
    row = (
        f"| {name} | {result.version} | {result.operations} | {result.cold:.2f} "
        f"| {result.warm:.2f} | {result.megabytes:.0f} | {len(result.off)} | {sent} | {counts} "
        f"| {sum(result.not_judged.values())} |"
    )
    reasons = {"off": result.off, **result.failures}
    lines = [
        f"    {kind}: {words}"
        for kind, all_words in reasons.items()
        for words in all_words[:_MAX_SHOWN]
    ]
    lines += [f"    not judged, {n} times: {why}" for why, n in result.not_judged.most_common(3)]
    return "\n".join([row, *lines])


if __name__ == "__main__":
    sys.exit(main())
