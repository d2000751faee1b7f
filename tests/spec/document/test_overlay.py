"""Overlays: what they change, and where problems in what they brought are placed."""

from __future__ import annotations

from pathlib import Path

from engine.source.problem import Findings, Problem
from engine.spec.spec import Specification, read
from tests.support.each import each

DOCUMENT = """openapi: 3.1.0
info: {title: T, version: "1"}
paths:
  /a:
    get:
      operationId: a
      parameters:
        - {name: x, in: query, schema: {type: string}}
        - {name: y, in: query, schema: {type: strin}}
      responses: {}
  /b: {get: {operationId: b, responses: {}}}
"""


def overlaid(folder: Path, *actions: str) -> tuple[Specification | None, list[Problem]]:
    text = "overlay: 1.0.0\ninfo: {title: O, version: '1'}\nactions:\n"
    return laid(folder, text + "".join(f"  - {action}\n" for action in actions))


def laid(folder: Path, *texts: str) -> tuple[Specification | None, list[Problem]]:
    (folder / "api.yaml").write_text(DOCUMENT)
    overlays = []
    for index, text in enumerate(texts):
        path = folder / f"fix{index}.yaml"
        path.write_text(text)
        overlays.append((path, path.name))
    findings = Findings()
    result = read("api", folder / "api.yaml", "api.yaml", (), findings, overlays)
    return result, findings.problems


def places(problems: list[Problem]) -> list[str]:
    return [f"{p.file}:{p.line}:{p.column} {p.level} {p.code}" for p in problems]


def names(result: Specification | None) -> list[str]:
    assert result is not None
    return sorted(result.operations)


def test_a_wrong_value_is_corrected(tmp_path: Path) -> None:
    action = (
        "{target: \"$.paths['/a'].get.parameters[?@.name=='y'].schema\", update: {type: string}}"
    )
    result, problems = overlaid(tmp_path, action)
    assert problems == []
    assert names(result) == ["a", "b"]


def test_a_part_is_removed(tmp_path: Path) -> None:
    result, problems = overlaid(tmp_path, "{target: \"$.paths['/a']\", remove: true}")
    assert (names(result), problems) == (["b"], [])


def test_items_after_a_removed_item_keep_their_positions(tmp_path: Path) -> None:
    result, problems = overlaid(
        tmp_path, "{target: \"$.paths['/a'].get.parameters[0]\", remove: true}"
    )
    assert names(result) == ["a", "b"]
    assert places(problems)[0] == "api.yaml:9:47 warning MW204"


def test_a_value_of_an_overlay_has_its_place_in_the_overlay(tmp_path: Path) -> None:
    update = (
        "{get: {operationId: c, responses: {}, parameters: [{name: q, in: query, style: matrix}]}}"
    )
    result, problems = overlaid(
        tmp_path,
        "{target: \"$.paths['/a'].get.parameters\", update: {name: z, in: nowhere}}",
        f"{{target: $.paths, update: {{/c: {update}}}}}",
        "{target: \"$.paths['/b'].get\", update: {parameters: [{name: p, in: cookie, style: x}]}}",
    )
    assert names(result) == ["a", "b", "c"]
    assert sorted(p for p in places(problems) if p.startswith("fix0")) == [
        "fix0.yaml:4:68 warning MW204",
        "fix0.yaml:5:115 warning MW204",
        "fix0.yaml:6:86 warning MW204",
    ]


def test_arrays_are_appended_to_and_objects_merged(tmp_path: Path) -> None:
    more = "{parameters: [{name: z, in: query, required: true, schema: {}}], operationId: renamed}"
    result, _ = overlaid(
        tmp_path,
        "{target: \"$.paths['/a'].get.parameters[1]\", remove: true}",
        f"{{target: \"$.paths['/a'].get\", update: {more}}}",
    )
    assert result is not None
    assert [p.name for p in result.operations["renamed"].parameters] == ["x", "z"]


def test_several_overlays_are_applied_in_order(tmp_path: Path) -> None:
    head = "overlay: 1.0.0\ninfo: {title: O, version: '1'}\nactions:\n"
    result, _ = laid(
        tmp_path,
        head + "  - {target: \"$.paths['/a'].get\", update: {operationId: one}}\n",
        head + "  - {target: \"$.paths[?@.get.operationId=='one']\", remove: true}\n",
    )
    assert names(result) == ["b"]


def test_a_target_that_matches_nothing_is_a_warning(tmp_path: Path) -> None:
    result, problems = overlaid(tmp_path, "{target: \"$.paths['/z']\", remove: true}")
    assert "fix0.yaml:4:14 warning MW232" in places(problems)
    assert result is not None


@each(
    ("text", "place"),
    [
        ("a: 1\n", "fix0.yaml:1:1"),
        ("overlay: 2.0.0\n", "fix0.yaml:1:1"),
        ("overlay: 1.0.0\nactions: {}\n", "fix0.yaml:2:10"),
        ("overlay: 1.0.0\nactions: [{}]\n", "fix0.yaml:2:11"),
        ("overlay: 1.0.0\nactions: [{target: $.paths}]\n", "fix0.yaml:2:11"),
        ("overlay: 1.0.0\nactions: [{target: '$.[', remove: true}]\n", "fix0.yaml:2:20"),
        ("overlay: 1.0.0\nactions: [{target: $, remove: true}]\n", "fix0.yaml:2:20"),
        ("overlay: 1.0.0\nactions: [{target: $.openapi, update: {}}]\n", "fix0.yaml:2:39"),
    ],
)
def test_an_invalid_overlay_is_an_error_at_its_place(tmp_path: Path, text: str, place: str) -> None:
    result, problems = laid(tmp_path, text)
    assert result is None
    assert places(problems) == [f"{place} error MW231"]


def test_yaml_that_is_broken_is_an_error(tmp_path: Path) -> None:
    result, problems = laid(tmp_path, "a: [\n")
    assert result is None
    assert [p.code for p in problems] == ["MW001"]
