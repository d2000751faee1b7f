"""What was read of a large document, kept for the next start, and who may have written it."""

from __future__ import annotations

import gc
import json
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.source import nodes, problem, reader, source_map, values
from engine.source.problem import Findings, Level, Problem
from engine.spec.document import cache, overlay
from engine.spec.document.checks import unreadable_parts
from engine.spec.schemas import schema_validator
from engine.spec.schemas.schema_cost import SchemaCost
from engine.spec.schemas.schema_graph import SchemaGraph
from engine.spec.schemas.schema_validator import SchemaValidator
from engine.spec.spec import Specification, read
from tests.support.documents import document, doubling, get, json_body
from tests.support.paths import ROOT

DOCUMENT = """openapi: 3.1.0
info: {{title: T, version: "{version}"}}
paths:
  /a:
    post:
      operationId: a
      requestBody: {{content: {{application/json: {{schema: {{$ref: parts.yaml#/A}}}}}}}}
      responses: {{}}
  '/b{{': {{get: {{operationId: b, parameters: [{{name: q}}], responses: {{}}}}}}
"""
PARTS = """A:
  type: object
  required: [n, n]
  properties: {n: {type: integer, example: 123456789012345678901}}
"""
ENGINE = Path(cache.__file__).parents[2]
OVERLAY = """overlay: 1.0.0
actions:
  - target: $.paths['/a'].post
    update: {parameters: [{name: p, in: query, schema: {type: string, nullable: true}}]}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache, "MIN_SIZE", 0)
    (tmp_path / "api.yaml").write_text(DOCUMENT.format(version=1))
    (tmp_path / "parts.yaml").write_text(PARTS)
    (tmp_path / "fix.yaml").write_text(OVERLAY)
    return tmp_path


def once(folder: Path) -> tuple[Specification, list[Problem], int]:
    """A reading, its problems, and how many files were parsed for it."""
    parsed: list[str] = []
    original = reader.read

    def counting(text: str, file: str, *more: object) -> object:
        parsed.append(file)
        return original(text, file, *more)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reader, "read", counting)
        findings = Findings()
        overlays = [(folder / "fix.yaml", "fix.yaml")]
        path, cached = folder / "api.yaml", folder / "cache"
        specification = read("api", path, "api.yaml", (), findings, overlays, cached)
        assert specification is not None
        specification.finish_compiling()
    return specification, findings.problems, len(parsed)


def entry(folder: Path) -> Path:
    (expected,) = (folder / "cache").glob("*")
    return expected


def test_the_second_reading_is_the_first(folder: Path) -> None:
    first, problems, parsed = once(folder)
    again, said_again, parsed_again = once(folder)
    assert (parsed, parsed_again) == (3, 0)
    assert problems == said_again
    assert [p.path for p in problems] == [p.path for p in said_again]
    assert {p.file for p in problems} == {"api.yaml", "parts.yaml", "fix.yaml"}
    assert list(first.operations) == list(again.operations) == ["a"]
    assert again.refusals == first.refusals
    rule = again.operations["a"].bodies.rules["application/json"]
    assert rule.validator is not None
    assert not rule.validator.is_valid({})


@pytest.mark.parametrize("name", ["api.yaml", "parts.yaml", "fix.yaml"])
def test_a_changed_document_is_read_again(folder: Path, name: str) -> None:
    once(folder)
    path = folder / name
    path.write_text(path.read_text() + "# more\n")
    assert once(folder)[2] == 3
    assert once(folder)[2] == 0


ALONE = """openapi: 3.1.0
info: {title: T, version: "1"}
paths:
  /a:
    post:
      operationId: a
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/A"}}}}
      responses: {}
components:
  schemas:
    A:
      type: object
      properties: {a: {items: {multipleOf: 0.5}}, b: {$ref: '#/components/schemas/B'}}
    B: {x-more: {$ref: "#/components/schemas/A"}}
"""


@pytest.mark.parametrize(
    ("text", "name", "is_found"),
    [
        (ALONE, "api.yaml", True),
        (ALONE, "other.yaml", False),
        (ALONE.replace("'#/components/schemas/B'", "parts.yaml#/A"), "api.yaml", False),
        (
            ALONE.replace("'#/components/schemas/B'", "api.yaml#/components/schemas/B"),
            "api.yaml",
            False,
        ),
        (ALONE + "x-see: {'$ref': ./part%73.yaml}\n", "api.yaml", False),
    ],
    ids=["alone", "another name", "another file", "itself", "an extension"],
)
def test_a_copy_in_another_folder_is_found_if_it_names_no_file(
    folder: Path, text: str, name: str, is_found: bool
) -> None:
    paths = folder / "one" / "api.yaml", folder / "two" / name
    for path in paths:
        path.parent.mkdir()
        path.write_text(text)
        shutil.copy(folder / "parts.yaml", path.parent)
    _, specification = (read_cached(path, folder / "cache") for path in paths)
    library = specification.library
    assert library.root == next(iter(library.files)) == paths[1]
    schema = library.document.get("components").get("schemas").get("A")
    assert schema.get("properties").get("b").resolved().uri.parent == paths[1].parent
    entry = cache.CacheEntry(folder / "cache", paths[1], "api.yaml", ())
    assert entry.load(Findings()) is not None
    assert entry.schema_facts is not None
    assert {uri for uri, _ in entry.schema_facts.costly} == {str(paths[1])}
    assert len([*(folder / "cache").iterdir()]) == (1 if is_found else 2)


def read_cached(path: Path, cached: Path) -> Specification:
    specification = read("api", path, "api.yaml", (), Findings(), [], cached)
    assert specification is not None
    specification.finish_compiling()
    return specification


def test_a_document_is_large_by_all_its_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MIN_SIZE", 2000)
    assert [once(folder)[2], once(folder)[2]] == [3, 3]  # together they are small
    assert not (folder / "cache").exists()
    (folder / "parts.yaml").write_text(PARTS + "# more\n" * 500)
    assert [once(folder)[2], once(folder)[2]] == [3, 0]


STARTER = {"openai.yaml", "anthropic.yaml", "gemini.yaml", "rerank.yaml"}
"""The documents of the config that `init` writes."""


def test_the_shipped_documents_are_cached_but_the_smallest(tmp_path: Path) -> None:
    files = sorted((ROOT / "openapi").glob("*.yaml"))
    for file in files:
        specification = read("api", file, file.name, (), Findings(), (), tmp_path / "cache")
        assert specification is not None
        specification.finish_compiling()
    large = [file for file in files if file.stat().st_size > cache.MIN_SIZE]
    assert len(list((tmp_path / "cache").iterdir())) == len(large)
    assert {file.name for file in large} >= STARTER


def test_a_document_is_read_again_when_its_missing_file_appears(folder: Path) -> None:
    (folder / "parts.yaml").unlink()
    assert "MW203" in {problem.code for problem in once(folder)[1]}
    (folder / "parts.yaml").write_text(PARTS)
    specification, problems, _ = once(folder)
    assert "MW203" not in {problem.code for problem in problems}
    assert "a" in specification.operations


def test_a_document_without_problems_is_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MIN_SIZE", 0)
    path = tmp_path / "api.yaml"
    path.write_text("openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths: {}\n")
    specification = read("api", path, "api.yaml", (), Findings(), (), tmp_path / "cache")
    assert specification is not None
    specification.finish_compiling()
    assert entry(tmp_path).stat().st_size


def test_concurrent_writers_leave_one_complete_entry(folder: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from engine.spec.document import cache;"
        "from engine.spec.spec import read; from engine.source.problem import Findings;"
        "cache.MIN_SIZE = 0; folder = Path(sys.argv[1]);"
        "made = read('api', folder / 'api.yaml', 'api.yaml', (), Findings(),"
        " [(folder / 'fix.yaml', 'fix.yaml')], folder / 'cache'); made.finish_compiling()"
    )
    command = [sys.executable, "-c", script, str(folder)]
    writers = [subprocess.Popen(command) for _ in range(4)]
    assert [writer.wait(120) for writer in writers] == [0] * 4
    assert json.loads(entry(folder).read_text())["files"]
    assert once(folder)[2] == 0


def test_a_changed_program_reads_documents_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once(folder)
    monkeypatch.setattr(cache, "program_hash", lambda engine: b"another")
    assert once(folder)[2] == 3


def test_a_change_of_any_module_that_reads_documents_is_another_program(tmp_path: Path) -> None:
    for room in ("spec", "source"):
        shutil.copytree(ENGINE / room, tmp_path / room)
    hashes = {cache.program_hash(ENGINE), cache.program_hash(tmp_path)}
    assert len(hashes) == 1
    modules = (nodes, overlay, problem, reader, source_map, unreadable_parts, values)
    for number, module in enumerate(modules):
        changed = tmp_path / Path(str(module.__file__)).relative_to(ENGINE)
        changed.write_text(changed.read_text() + "\n")
        cache.program_hash.cache_clear()
        hashes.add(cache.program_hash(tmp_path))
        assert len(hashes) == number + 2, changed


def test_the_cache_is_readable_by_our_user_only(folder: Path) -> None:
    once(folder)
    assert entry(folder).stat().st_mode & 0o777 == 0o600
    assert (folder / "cache").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_may_write_is_not_read(folder: Path, mode: int) -> None:
    once(folder)
    entry(folder).chmod(mode)
    assert once(folder)[2] == 3


def test_a_folder_that_others_may_write_is_not_used(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "cache").mkdir()
    (folder / "cache").chmod(0o777)
    with caplog.at_level(logging.WARNING, "modelway"):
        once(folder)
    assert list((folder / "cache").iterdir()) == []
    assert "can be written by other users" in caplog.text


def test_a_link_is_not_followed(folder: Path) -> None:
    once(folder)
    cached = entry(folder)
    elsewhere = folder / "elsewhere.json"
    cached.rename(elsewhere)
    cached.symlink_to(elsewhere)
    assert once(folder)[2] == 3
    assert not cached.is_symlink()


@pytest.mark.parametrize("text", ["", "{}", "[1]", "not json", '{"files": [["x"]], "values": []}'])
def test_a_damaged_entry_is_replaced(folder: Path, text: str) -> None:
    once(folder)
    entry(folder).write_text(text)
    assert once(folder)[2] == 3
    assert json.loads(entry(folder).read_text())["files"]
    assert once(folder)[2] == 0


def test_an_entry_with_other_facts_of_schemas_is_replaced(folder: Path) -> None:
    once(folder)
    text = entry(folder).read_text()
    assert '"has_broken":false' in text
    entry(folder).write_text(text.replace('"has_broken":false', '"has_broken":"no"'))
    assert once(folder)[2] == 3
    assert once(folder)[2] == 0


def test_a_folder_that_cannot_be_made_costs_nothing_but_time(folder: Path) -> None:
    (folder / "cache").write_text("a file")
    assert once(folder)[2] == 3


def test_old_entries_are_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_ENTRIES", 2)
    for version in range(4):
        (folder / "api.yaml").write_text(DOCUMENT.format(version=version))
        once(folder)
    assert len(list((folder / "cache").iterdir())) == 2


def test_an_entry_that_goes_while_old_ones_are_removed_does_no_harm(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cache, "MAX_ENTRIES", 1)
    caplog.set_level("INFO", "modelway")
    once(folder)
    (folder / "cache" / "gone.json").symlink_to(folder / "nowhere")
    (folder / "api.yaml").write_text(DOCUMENT.format(version=2))
    once(folder)
    assert len(list((folder / "cache").iterdir())) == 1
    assert "is not cached" not in caplog.text


# Equal schemas share a validator: no other test has these numbers.
@pytest.mark.parametrize(
    ("schema", "first", "again"), [("{minimum: 30417}", 2, 0), ("{$dynamicRef: '#x'}", 3, 3)]
)
def test_schemas_that_an_earlier_process_compiled_are_compiled_when_they_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schema: str, first: int, again: int
) -> None:
    monkeypatch.setattr(cache, "MIN_SIZE", 0)
    monkeypatch.setattr(schema_validator, "MAX_COMPILED", 0)
    path = tmp_path / "api.yaml"
    content = f"content: {{application/json: {{schema: {schema}}}}}"
    other = "{content: {application/json: {schema: {maximum: 30417}}}}"
    path.write_text(
        "openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths:\n"
        f"  /a: {{post: {{operationId: a, requestBody: {{{content}}}, responses: {{}}}}}}\n"
        f"  /b: {{post: {{operationId: b, requestBody: {other}, responses: {{}}}}}}\n"
    )
    numbers, results = [], []  # a broken schema is compiled again, without its broken keyword
    for _ in range(2):
        compiled = count_compilations(monkeypatch)
        findings = Findings()
        made = read("api", path, "api.yaml", (), findings, (), tmp_path / "cache")
        assert made is not None
        made.finish_compiling()
        numbers.append(len(compiled))
        results.append((findings.problems, [*made.operations], made.refusals))
        del made, compiled[:]
        gc.collect()  # the validators end with their process
    assert numbers == [first, again]
    assert results[0] == results[1]


def test_of_a_cached_document_only_the_cost_of_costly_schemas_is_found_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_validator, "MAX_COMPILED", 0)
    schemas = doubling({"minimum": 30417}, Dear=12)
    schemas["Cheap0"] = {"allOf": [{"allOf": [{"minimum": number}]} for number in range(20)]}
    paths = {
        f"/{name}": {"post": get(requestBody=json_body({"$ref": f"#/components/schemas/{name}"}))}
        for name in ("Dear0", "Cheap0")
    }
    value = document(paths=paths, components={"schemas": schemas})
    (folder / "api.yaml").write_text(json.dumps(value))
    costs: list[int] = []
    init, most = SchemaCost.__init__, SchemaGraph.most

    def counting(self: Any, *parts: Any) -> None:
        init(self, *parts)
        costs.append(self.most)

    def counting_most(self: Any, *parts: Any) -> int:
        costs.append(most(self, *parts))
        return costs[-1]

    monkeypatch.setattr(SchemaCost, "__init__", counting)
    monkeypatch.setattr(SchemaGraph, "most", counting_most)

    def reading() -> tuple[int, list[Problem], list[bool]]:
        specification, problems, _ = once(folder)
        operations = specification.operations.values()
        rules = [rule for each in operations for rule in each.bodies.rules.values()]
        expensive = [rule.validator is not None and rule.validator.is_expensive for rule in rules]
        return len(set(costs)), problems, expensive

    first = reading()
    costs.clear()
    gc.collect()  # the validators end with their process
    again = reading()
    assert (first[0], again[0]) == (2, 1)
    assert first[1:] == again[1:]
    assert first[2] == [True, False]


def count_compilations(monkeypatch: pytest.MonkeyPatch) -> list[SchemaValidator]:
    """A list of the validators that are compiled from now on."""
    compiled: list[SchemaValidator] = []
    compile_ = SchemaValidator.compile
    monkeypatch.setattr(
        SchemaValidator, "compile", lambda self: compiled.append(self) or compile_(self)
    )
    return compiled


def test_another_compiler_of_schemas_proves_them_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once(folder)
    monkeypatch.setattr(cache, "compiler_version", lambda: "another")
    assert once(folder)[2] == 3


def noted(specification: Specification, kind: str = "k", depends_on: object = 1) -> list[str]:
    """The messages of two findings: whether each was made now."""
    made: list[str] = []

    def note(findings: Findings) -> None:
        for number in range(2):
            made.append(f"{number}")
            findings.unsorted.append(
                Problem("api.yaml", 1, number, Level.WARNING, "MW220", f"{number}", "ü")
            )

    findings = Findings()
    specification.note(kind, [depends_on], findings, note)
    assert [p.message for p in findings.unsorted] == ["0", "1"]
    assert {(p.level, p.hint) for p in findings.unsorted} == {(Level.WARNING, "ü")}
    return made


def findings_of(folder: Path) -> Path:
    (file,) = (folder / "cache").glob("*.findings")
    return file


def test_findings_are_made_once_for_what_they_depend_on(folder: Path) -> None:
    for expected in (["0", "1"], []):
        assert noted(once(folder)[0]) == expected
    again = once(folder)[0]
    assert noted(again, kind="other") == noted(again, depends_on=2) == ["0", "1"]
    assert noted(again) == noted(again, kind="other") == []
    (folder / "parts.yaml").write_text(PARTS + "# more\n")
    assert noted(once(folder)[0]) == ["0", "1"]


def test_another_program_makes_findings_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted(once(folder)[0])
    original = cache.program_hash
    monkeypatch.setattr(
        cache, "program_hash", lambda engine, *rooms: original(engine, *rooms) + bytes(len(rooms))
    )
    assert noted(once(folder)[0]) == ["0", "1"]


@pytest.mark.parametrize("damage", ["mode", "text", "link"])
def test_findings_that_cannot_be_trusted_are_made_again(folder: Path, damage: str) -> None:
    noted(once(folder)[0])
    file = findings_of(folder)
    if damage == "mode":
        file.chmod(0o666)
    elif damage == "text":
        file.write_text('{"problems": [["a"]]}')
    else:
        file.symlink_to(file.rename(folder / "elsewhere"))
    assert noted(once(folder)[0]) == ["0", "1"]
    assert noted(once(folder)[0]) == []


def test_old_findings_are_removed_and_no_documents(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MAX_FINDINGS", 1)
    specification = once(folder)[0]
    for number in range(3):
        noted(specification, depends_on=number)
    assert sorted(p.suffix for p in (folder / "cache").iterdir()) == [".findings", ".json"]


def test_an_entry_that_is_cut_off_is_read_from_the_files(folder: Path) -> None:
    once(folder)
    file = entry(folder)
    for size in (file.stat().st_size - 1, file.stat().st_size - 20):
        os.truncate(file, size)
        assert once(folder)[2] == 3
        assert once(folder)[2] == 0
