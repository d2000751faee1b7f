"""The files that travel with the program: documents, schema and the shipped gateway.yaml.

In the repository they stand at the top level; in an installed wheel, under `engine/shipped/`.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

HOME = _PACKAGE / "shipped" if (_PACKAGE / "shipped").is_dir() else _PACKAGE.parent
"""The folder that holds gateway.yaml, openapi/ and schemas/."""

CONFIG = HOME / "gateway.yaml"
SCHEMA = HOME / "schemas" / "gateway.schema.json"
DOCUMENTS = HOME / "openapi"
