"""Manifests of foreign kinds under the schemas of their definitions, which are not part of this
repository: MODELWAY_CRDS names a folder with CustomResourceDefinitions, such as of
`kubectl get crd servicemonitors.monitoring.coreos.com ciliumnetworkpolicies.cilium.io -o yaml`."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from tests.support.chart import CASES, FOREIGN, expected, manifests

FOLDER = os.environ.get("MODELWAY_CRDS", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="MODELWAY_CRDS names no folder")


def definitions() -> dict[tuple[str, str], dict[str, Any]]:
    """The schema of each kind and version, with unknown members refused."""
    found = {}
    for file in sorted(Path(FOLDER).glob("*.yaml")):
        for document in yaml.safe_load_all(file.read_text("utf-8")):
            for crd in document.get("items", [document]):
                spec = crd["spec"]
                for version in spec["versions"]:
                    name = f"{spec['group']}/{version['name']}"
                    found[name, spec["names"]["kind"]] = closed(
                        version["schema"]["openAPIV3Schema"]
                    )
    return found


def closed(schema: Any) -> Any:
    """As JSON Schema: objects have no other members, but where Kubernetes keeps unknown ones."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: closed(part) for name, part in schema.items()}
    if schema.get("x-kubernetes-int-or-string"):
        made.pop("type", None)
    is_object = schema.get("type") == "object" and isinstance(schema.get("properties"), dict)
    if is_object and not schema.get("x-kubernetes-preserve-unknown-fields"):
        made.setdefault("additionalProperties", False)
    return made


def errors(manifest: dict[str, Any]) -> list[str]:
    """By a validator with regular expressions as those of Go."""
    schema = definitions()[manifest["apiVersion"], manifest["kind"]]
    validator = jsonschema_rs.Draft202012Validator(schema)
    return [error.message for error in validator.iter_errors(manifest)]


def foreign() -> Iterator[dict[str, Any]]:
    for case in CASES:
        for manifest in manifests(expected(case).read_text("utf-8")):
            if manifest["kind"] in FOREIGN:
                yield manifest


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_manifest_of_a_foreign_kind_is_valid(kind: str) -> None:
    found = [manifest for manifest in foreign() if manifest["kind"] == kind]
    assert found
    assert [error for manifest in found for error in errors(manifest)] == []


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_misspelt_member_is_found(kind: str) -> None:
    manifest = copy.deepcopy(next(m for m in foreign() if m["kind"] == kind))
    manifest["spec"]["egres"] = []
    assert [error for error in errors(manifest) if "egres" in error]
