"""The official test suite of JSON Schema, and its groups as operations of one OpenAPI document.

The suite is in the source distribution of jsonschema, which pip downloads. Each schema is a file of
its own, so that `#` in it means its root, as in the suite.
"""

from __future__ import annotations

import json
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.cassettes import SourceDistribution

SOURCE = SourceDistribution(
    "jsonschema", "4.26.0", "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326"
)
DRAFTS = {"draft2020-12": "3.1.0", "draft4": "3.0.3"}
"""The drafts, and the version of OpenAPI whose schemas are of it."""


@dataclass(frozen=True)
class Group:
    """A schema of the suite, and values with whether it accepts them."""

    name: str
    schema: Any
    values: tuple[tuple[str, Any, bool], ...]


@cache
def missing() -> str:
    """Download the suite if it is not here; why it cannot be, "" if it is."""
    if SOURCE.file.is_file():
        return ""
    try:
        SOURCE.download()
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        return f"pip cannot download {SOURCE.name} {SOURCE.version}: {error.stderr}"
    return ""


def groups(draft: str) -> list[Group]:
    """The required tests of a draft."""
    return list(_groups(draft))


def _groups(draft: str) -> Iterator[Group]:
    with tarfile.open(SOURCE.file) as archive:
        for member in archive:
            folder, _, name = member.name.rpartition("/")
            if not folder.endswith(f"json/tests/{draft}") or not name.endswith(".json"):
                continue
            file = archive.extractfile(member)
            assert file is not None
            for entry in json.loads(file.read()):
                tests = entry["tests"]
                values = tuple((t["description"], t["data"], t["valid"]) for t in tests)
                title = f"{name.removesuffix('.json')}: {entry['description']}"
                yield Group(title, entry["schema"], values)


def write_document(folder: Path, draft: str, suite: list[Group]) -> Path:
    """An OpenAPI document whose operation `g3` takes what the fourth group accepts."""
    paths = {}
    for number, group in enumerate(suite):
        (folder / f"g{number}.json").write_text(json.dumps(group.schema))
        content = {"application/json": {"schema": {"$ref": f"g{number}.json"}}}
        operation = {
            "operationId": f"g{number}",
            "requestBody": {"required": True, "content": content},
            "responses": {"200": {"description": "accepted"}},
        }
        paths[f"/g{number}"] = {"post": operation}
    info = {"title": "JSON Schema", "version": "1"}
    file = folder / "suite.json"
    file.write_text(json.dumps({"openapi": DRAFTS[draft], "info": info, "paths": paths}))
    return file
