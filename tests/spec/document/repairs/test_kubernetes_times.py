"""Times of Kubernetes may be null."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.documents import document, get, warning_codes

TIME = {"type": "string", "format": "date-time"}


@pytest.mark.parametrize(
    ("name", "schema", "codes"),
    [
        ("io.k8s.apimachinery.pkg.apis.meta.v1.Time", TIME, ["MW240"]),
        ("k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime", TIME, ["MW240"]),
        ("io.k8s.apimachinery.pkg.apis.meta.v1.Time", {**TIME, "nullable": False}, []),
        ("Time", TIME, []),
    ],
)
def test_only_its_times_are_nullable(tmp_path, name: str, schema: Any, codes: list[str]) -> None:
    media = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
    paths = {"/x": {"post": get(requestBody={"content": media})}}
    value = document(version="3.0.3", paths=paths, components={"schemas": {name: schema}})
    assert warning_codes(tmp_path, value) == codes
