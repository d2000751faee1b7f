"""The page of licences: what is installed with Modelway, and under which licence."""

from __future__ import annotations

from importlib.metadata import Distribution

from tools.dependencies import installed

_HEAD = """# Licences

Written by `python -m tools.reference`; do not edit it here. Modelway is under Apache-2.0.
These are installed with it and its extras `aws`, `azure`, `google`, `otel`, `parquet` and
`tokenizers`.

| distribution | licence |
|---|---|"""
_CLASSIFIER = "License :: OSI Approved :: "
_NO_NAMES = {"UNKNOWN", "Dual License"}
_MAX_LENGTH = 60
"""Some projects give the text of the licence in place of its name."""


def licence(entry: Distribution) -> str:
    """The name of a licence, as the distribution gives it; "" if it gives none."""
    facts = entry.metadata
    stated = facts.get("License-Expression") or facts.get("License") or ""
    if stated and len(stated) <= _MAX_LENGTH and stated not in _NO_NAMES:
        return str(stated)
    names = [text for text in facts.get_all("Classifier") or [] if text.startswith(_CLASSIFIER)]
    return " and ".join(name.removeprefix(_CLASSIFIER) for name in names)


def page() -> str:
    """The table of licences."""
    rows = [f"| {entry.metadata['Name']} | {licence(entry)} |" for entry in installed()]
    return "\n".join([_HEAD, *rows, ""])
