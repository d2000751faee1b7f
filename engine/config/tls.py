"""The files of a section `tls`: of an upstream, or of the stores."""

from __future__ import annotations

from pathlib import Path as FilePath

from engine.source.files import is_file
from engine.source.problem import Findings, Path, Source
from engine.values.trees import Json, Section


def tls_files(
    section: Section, at: Path, folder: FilePath, source: Source, findings: Findings
) -> Json:
    """The section at the path `at` with its paths made absolute from the config's folder. Missing
    files go to the findings."""
    files: dict[str, str] = {}
    for key in ("ca", "certificate", "key"):
        if key in section:
            path = folder / section[key]
            files[key] = str(path)
            if not is_file(path):
                message = f"there is no file '{section[key]}'"
                findings.error(source, (*at, key), "MW106", message)
    if "key" in section and "certificate" not in section:
        message = "'key' without 'certificate'"
        hint = "write certificate: and the path of the file"
        findings.error(source, (*at, "key"), "MW105", message, hint)
    return {**section, **files}
