"""Warnings about parts of a document that no route reaches are notes."""

from __future__ import annotations

from pathlib import Path

from engine.offline.check.unreached_parts import lower_unreached
from engine.plan.assembly.make_plan import make_plan
from engine.source.problem import Level
from engine.spec.document.checks.mistakes import note_mistakes
from tests.support.each import each

CONFIG = """
version: 1
specs: {{shop: {{document: shop.yaml}}, copy: {{document: copy.yaml, mount: [/copy]}}}}
upstreams: {{main: {{url: "https://main.test"}}}}
routes: [{{operations: [{operations}], auth: none, to: [{{upstream: main}}]}}]
"""
SHOP = """
openapi: 3.0.3
info: {title: Shop, version: "1"}
paths:
  /items/:id:
    get: {operationId: old, responses: {"200": {description: It}}}
  /items:
    parameters: [{$ref: "#/components/parameters/Page"}]
    get:
      operationId: list
      responses:
        "200":
          description: All
          content: {application/json: {schema: {$ref: "#/components/schemas/Items"}}}
    post:
      operationId: put
      requestBody: {content: {aplication/json: {schema: {$ref: "other.yaml#/Price"}}}}
      responses: {"200": {description: It}}
components:
  parameters:
    Page: {name: page, in: query, schema: {type: string, pattern: '\\Ax'}}
  schemas:
    Items: {type: array, items: {$ref: "#/components/schemas/Item"}}
    Item: {type: object, required: []}
    Loop: {allOf: [{$ref: "#/components/schemas/Loop"}]}
    Unused: {anyOf: [{$ref: "#/components/schemas/Loop"}]}
"""
OTHER = """
Price: {allOf: [{$ref: "#/Amount"}]}
Amount: {type: integer, enum: [1, 1]}
Rest: {type: integer, enum: [2, 2]}
"""
OF_LIST = {("MW252", "shop.yaml"), ("MW221", "shop.yaml")}
OF_PUT = {("MW252", "shop.yaml"), ("MW476", "shop.yaml"), ("MW257", "other.yaml")}
OF_OLD = {("MW478", "shop.yaml")}


def levels(folder: Path, operations: str) -> dict[Level, set[tuple[str, str]]]:
    """The codes and files of the findings about the documents, by their levels. No route serves
    copy.yaml, which shares other.yaml."""
    (folder / "shop.yaml").write_text(SHOP)
    (folder / "copy.yaml").write_text(SHOP)
    (folder / "other.yaml").write_text(OTHER)
    (folder / "gateway.yaml").write_text(CONFIG.format(operations=operations))
    plan_result = make_plan(folder / "gateway.yaml", {})
    assert plan_result.plan is not None, plan_result.problems
    note_mistakes(plan_result.specifications["shop"].library, plan_result.findings)
    lower_unreached(plan_result)
    found: dict[Level, set[tuple[str, str]]] = {level: set() for level in Level}
    for problem in plan_result.problems:
        if problem.code[2] in "24" and Path(problem.file).name != "copy.yaml":
            found[problem.level].add((problem.code, Path(problem.file).name))
    return found


@each(
    ("operations", "warnings"),
    [
        ("shop.list", OF_LIST),
        ("shop.put", OF_PUT),
        ("shop.old", OF_OLD),
        ("shop.*", OF_LIST | OF_PUT | OF_OLD),
    ],
)
def test_a_warning_is_about_a_part_that_a_route_reaches(
    operations: str, warnings: set[tuple[str, str]], tmp_path: Path
) -> None:
    found = levels(tmp_path, operations)
    assert found[Level.WARNING] == warnings
    assert found[Level.INFO] >= (OF_LIST | OF_PUT | OF_OLD) - warnings


def test_a_circle_that_nothing_refers_to_is_a_note(tmp_path: Path) -> None:
    found = levels(tmp_path, "shop.*")
    assert found[Level.INFO] == {("MW213", "shop.yaml"), ("MW257", "other.yaml")}


PATHS_WITHOUT_OPERATIONS = """
  /gone: {$ref: "gone.yaml#/item"}
  /number: 5
  /lost: {$ref: "#/paths/~1nowhere"}
  /empty: {$ref: "other.yaml#/Item"}
  /link: {additionalOperations: {LINK: 5}}
"""


@each("operations", ["shop.list", "shop.*"])
def test_a_mistake_may_be_why_a_path_has_no_operation(operations: str, tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(
        SHOP.replace("\npaths:\n", f"\npaths:{PATHS_WITHOUT_OPERATIONS}")
    )
    (tmp_path / "copy.yaml").write_text(SHOP)
    (tmp_path / "other.yaml").write_text(OTHER + "Item: {parameters: 7}\n")
    (tmp_path / "gateway.yaml").write_text(CONFIG.format(operations=operations))
    plan_result = make_plan(tmp_path / "gateway.yaml", {})
    assert plan_result.plan is not None, plan_result.problems
    lower_unreached(plan_result)
    found = {(p.code, p.path[-1]) for p in plan_result.problems if p.level is Level.WARNING}
    assert found >= {("MW203", "$ref"), ("MW202", "$ref")}
    assert found >= {("MW204", "/number"), ("MW204", "parameters"), ("MW204", "LINK")}
