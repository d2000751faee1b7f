"""References: followed through files, and removed where they lead nowhere."""

from __future__ import annotations

from pathlib import Path

from tests.support.each import each
from tests.support.libraries import HEAD, at, places, read


def test_a_reference_in_the_document_is_followed(tmp_path: Path) -> None:
    library, problems = read(tmp_path, api=HEAD + "a: {$ref: '#/b'}\nb: {c: 1}\n")
    assert problems == []
    assert at(library, "a").value == {"c": 1}
    assert at(library, "a").path == ("b",)


def test_references_are_followed_in_chains(tmp_path: Path) -> None:
    text = HEAD + "a: {$ref: '#/b'}\nb: {$ref: '#/c/d'}\nc: {d: {$ref: '#/e'}}\ne: {x: 5}\n"
    library, problems = read(tmp_path, api=text)
    assert problems == []
    assert at(library, "a", "x").value == 5


def test_a_reference_to_the_root_of_the_document_is_resolved(tmp_path: Path) -> None:
    library, problems = read(tmp_path, api=HEAD + "a: {$ref: '#'}\n")
    assert problems == []
    assert at(library, "a", "openapi").value == "3.1.0"


def test_files_are_followed_from_where_they_stand(tmp_path: Path) -> None:
    library, problems = read(
        tmp_path,
        api=HEAD + "a: {$ref: 'parts/one.yaml#/x'}\n",
        parts__one="x: {y: {$ref: '../two.yaml#/z'}}\n",
        two="z: {$ref: './parts/deep/three.yaml'}\n",
        parts__deep__three="w: {$ref: '#/v'}\nv: found\n",
    )
    assert problems == []
    assert at(library, "a", "y", "w").value == "found"
    assert library is not None
    assert len(library.files) == 4


def test_a_file_may_be_json(tmp_path: Path) -> None:
    library, problems = read(
        tmp_path,
        api=HEAD + "a: {$ref: 'two.json#/x'}\n",
        two_json='{"x": {"$ref": "#/y"}, "y": {"z": [1]}}',
    )
    assert problems == []
    assert at(library, "a", "z").value == [1]


def test_a_file_may_refer_back(tmp_path: Path) -> None:
    library, problems = read(
        tmp_path,
        api=HEAD + "a: {$ref: 'two.yaml#/x'}\nb: {c: 1}\n",
        two="x: {$ref: 'api.yaml#/b'}\n",
    )
    assert problems == []
    assert at(library, "a", "c").value == 1


def test_a_file_name_may_be_percent_encoded(tmp_path: Path) -> None:
    (tmp_path / "with space.yaml").write_text("x: {y: 1}\n")
    library, problems = read(tmp_path, api=HEAD + "a: {$ref: 'with%20space.yaml#/x'}\n")
    assert problems == []
    assert at(library, "a", "y").value == 1


def test_files_may_be_in_circles(tmp_path: Path) -> None:
    library, problems = read(
        tmp_path,
        api=HEAD + "a: {b: {$ref: 'two.yaml#/x'}}\n",
        two="x: {b: {$ref: 'api.yaml#/a'}}\n",
    )
    assert problems == []
    node = at(library, "a")
    for _ in range(10):
        node = node.get("b")
    assert node.value is not None


def test_a_folder_of_the_document_may_have_a_name_of_any_letters(tmp_path: Path) -> None:
    folder = tmp_path / "Ünder %20 #1"
    folder.mkdir()
    library, problems = read(
        folder, api=HEAD + "a: {$ref: 'two.yaml#/x'}\n", two="x: {y: {$ref: '#/z'}}\nz: 1\n"
    )
    assert problems == []
    assert at(library, "a", "y").value == 1


def test_a_file_of_another_is_shown_as_seen_from_the_first(tmp_path: Path) -> None:
    _, problems = read(
        tmp_path,
        api=HEAD + "a: {$ref: 'parts/one.yaml#/x'}\n",
        parts__one="x:\n  y: {$ref: 'two.yaml#/z'}\n",
        parts__two="z:\n  w: {$ref: '#/nowhere'}\n",
    )
    assert places(problems) == ["parts/two.yaml:2:13 MW202"]


@each(
    ("text", "place"),
    [
        ("a: {$ref: '#/b'}\n", "api.yaml:3:11 MW202"),
        ("a:\n  $ref: '#/a/b/c'\n", "api.yaml:4:9 MW202"),
        ("a:\n  - $ref: '#/a/9'\n", "api.yaml:4:11 MW202"),
        ("a: {$ref: 'no.yaml#/x'}\n", "api.yaml:3:11 MW203"),
        ("a: {$ref: 'https://example.com/x.yaml#/x'}\n", "api.yaml:3:11 MW203"),
        ("a: {$ref: 'http://example.com/x.yaml'}\n", "api.yaml:3:11 MW203"),
    ],
)
def test_a_reference_that_leads_nowhere_is_placed(tmp_path: Path, text: str, place: str) -> None:
    _, problems = read(tmp_path, api=HEAD + text)
    assert places(problems) == [place]


def test_every_broken_reference_is_noted(tmp_path: Path) -> None:
    text = HEAD + "a: {$ref: '#/x'}\nb: {$ref: '#/y'}\nc: {$ref: 'two.yaml#/z'}\n"
    _, problems = read(tmp_path, api=text, two="a: {$ref: '#/w'}\n")
    assert len(problems) == 4


def test_a_near_name_is_suggested(tmp_path: Path) -> None:
    text = HEAD + "components: {schemas: {Model: {}}}\na: {$ref: '#/components/schemas/Modle'}\n"
    _, problems = read(tmp_path, api=text)
    assert problems[0].hint == "did you mean 'Model'?"


def test_a_reference_to_itself_is_a_problem(tmp_path: Path) -> None:
    _, problems = read(tmp_path, api=HEAD + "a: {$ref: '#/a'}\n")
    assert places(problems) == ["api.yaml:3:11 MW202"]


def test_references_in_a_circle_are_a_problem(tmp_path: Path) -> None:
    _, problems = read(tmp_path, api=HEAD + "a: {$ref: '#/b'}\nb: {$ref: '#/a'}\n")
    assert problems


def test_a_reference_through_a_reference_is_followed(tmp_path: Path) -> None:
    text = HEAD + "a: {$ref: '#/b/c'}\nb: {$ref: '#/d'}\nd: {c: {x: 1}}\n"
    library, problems = read(tmp_path, api=text)
    assert problems == [] or places(problems) == ["api.yaml:3:11 MW202"]
    if not problems:
        assert at(library, "a", "x").value == 1


def test_a_broken_file_is_a_problem_of_that_file(tmp_path: Path) -> None:
    _, problems = read(tmp_path, api=HEAD + "a: {$ref: 'two.yaml#/x'}\n", two="x: [1,\n  {y: }}\n")
    assert ("two.yaml", "MW001") in {(p.file, p.code) for p in problems}


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    _, problems = read(tmp_path, api=HEAD + "a: {$ref: 'parts#/x'}\n")
    assert problems


@each(
    "text",
    [
        "a: {example: {$ref: '#/x'}}\n",
        "a: {default: {$ref: '#/x'}}\n",
        "a: {const: {$ref: '#/x'}}\n",
        "a: {enum: [{$ref: '#/x'}]}\n",
        "a: {examples: {one: {value: {$ref: '#/x'}}}}\n",
        "a: {examples: [{$ref: '#/x'}]}\n",
        "a: {properties: {$ref: {type: string}}}\n",
        "a: {$ref: 5}\n",
    ],
)
def test_a_value_that_looks_like_a_reference_is_no_reference(tmp_path: Path, text: str) -> None:
    library, problems = read(tmp_path, api=HEAD + text)
    assert problems == []
    assert library is not None


def test_a_property_may_be_called_example(tmp_path: Path) -> None:
    text = HEAD + "a: {properties: {example: {$ref: '#/x'}, default: {$ref: '#/b'}}}\nb: {}\n"
    _, problems = read(tmp_path, api=text)
    assert places(problems) == ["api.yaml:3:34 MW202"]


@each("name", ["a\\0b", "\\ud800.yaml", "a\\0#/x", "x/../\\udfff"])
def test_a_name_that_no_file_can_have_is_a_broken_reference(tmp_path: Path, name: str) -> None:
    text = '{"openapi": "3.1.0", "info": {}, "a": {"$ref": "' + name.replace("\\0", "\\u0000")
    _, problems = read(tmp_path, api=text + '"}}')
    assert [problem.code for problem in problems] == ["MW203"]


def test_a_circle_of_links_is_a_broken_reference(tmp_path: Path) -> None:
    (tmp_path / "circle.yaml").symlink_to("circle.yaml")
    _, problems = read(tmp_path, api=HEAD + "a: {$ref: 'circle.yaml#/x'}\n")
    assert [problem.code for problem in problems] == ["MW203"]


@each("step", ["²", "٣", "9" * 5000, "-1", "1.0"])
def test_an_index_is_written_in_plain_digits(tmp_path: Path, step: str) -> None:
    _, problems = read(tmp_path, api=HEAD + f"a: {{$ref: '#/b/{step}'}}\nb: [1, 2, 3, 4]\n")
    assert [problem.code for problem in problems] == ["MW202"]


A, B = "'#/components/schemas/A'", "'#/components/schemas/B'"
CYCLE = f"components: {{schemas: {{A: {{$ref: {B}}}, B: {{$ref: {A}}}}}}}\n"


def test_a_reference_to_itself_is_told_only_if_it_is_used(tmp_path: Path) -> None:
    library, problems = read(tmp_path, api=HEAD + CYCLE)
    assert problems == []
    assert at(library, "components", "schemas", "A").value == {}
    _, problems = read(tmp_path, api=HEAD + CYCLE + "x: {$ref: '#/components/schemas/A'}\n")
    assert places(problems) == [
        "api.yaml:3:34 MW202",
        "api.yaml:3:71 MW202",
        "api.yaml:4:11 MW202",
    ]


def test_a_reference_to_itself_is_used_through_other_components(tmp_path: Path) -> None:
    user = "  parameters: {P: {schema: {items: {$ref: '#/components/schemas/A'}}}}\n"
    cycle = "components:\n  schemas: {A: {$ref: '#/components/schemas/A'}}\n" + user
    _, problems = read(tmp_path, api=HEAD + cycle)
    assert problems == []
    _, problems = read(tmp_path, api=HEAD + cycle + "x: {$ref: '#/components/parameters/P'}\n")
    assert "api.yaml:4:23 MW202" in places(problems)
