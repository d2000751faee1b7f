"""The pages, as `console:` switches them; their links, files and size."""

import re

import falcon.testing
import pytest

from engine.app.build import build
from engine.console.pages import FILES, pages
from engine.exchange.stage_services import Services
from tests.console.conftest import planned
from tests.support.swagger_ui import IS_INSTALLED

PATHS = ("/", "/console/playground", "/console/models.json", "/docs", "/openapi.json")


@pytest.mark.parametrize(
    ("section", "missing"),
    [
        ("{}", set()),
        ("{enabled: false}", set(PATHS)),
        ("{playground: false}", {"/console/playground", "/console/models.json"}),
        ("{docs: false}", {"/docs", "/openapi.json"}),
    ],
)
def test_pages_can_be_disabled(text, section, missing):
    client = falcon.testing.TestClient(build(planned(f"{text}\nconsole: {section}\n")))
    not_found = {path for path in PATHS if client.simulate_get(path).status_code == 404}
    assert not_found == missing


def test_every_path_of_a_page_is_reserved(shipped):
    console = shipped.config.console
    for path, *_ in pages(shipped, Services()):
        assert console.page_at(path), path


@pytest.mark.parametrize(
    ("switch", "path", "link"),
    [("docs", "/console/playground", "../docs"), ("playground", "/docs", "console/playground")],
)
def test_links_to_a_disabled_page_are_removed(text, client, switch, path, link):
    assert f'href="{link}"' in client.simulate_get(path).text
    bare = falcon.testing.TestClient(build(planned(f"{text}\nconsole: {{{switch}: false}}\n")))
    assert f'href="{link}"' not in bare.simulate_get(path).text


@pytest.mark.parametrize(
    ("page", "base"),
    [
        ("/", "/"),
        ("/console/playground", "/console/"),
        pytest.param(
            *("/docs", "/"),
            marks=pytest.mark.skipif(not IS_INSTALLED, reason="Swagger UI is not installed"),
        ),
    ],
)
def test_every_file_that_a_page_loads_is_served(client, page, base):
    html = client.simulate_get(page).text
    names = re.findall(r'(?:src|href)="((?:console/)?page/[^"]+)"', html)
    assert len(names) > 3
    for name in names:
        assert client.simulate_get(base + name).status_code == 200, name


def test_every_module_that_a_module_imports_is_served(text):
    mcp = "mcp: {chats: {path: /mcp/chats, operations: [openai.createChatCompletion]}}"
    client = falcon.testing.TestClient(build(planned(f"{text}\n{mcp}\n")))
    for file in sorted(FILES.rglob("*.js")):
        if file.parent.name == "operations":  # of the telemetry listener
            continue
        for name in re.findall(r'(?:from|import\() ?"(\.\.?/[^"]+)"', file.read_text("utf-8")):
            path = (file.parent / name).resolve().relative_to(FILES)
            assert client.simulate_get(f"/console/page/{path}").status_code == 200, path


def test_files_are_short_and_load_nothing_from_another_origin():
    for file in FILES.rglob("*.*"):
        text = file.read_text("utf-8")
        assert text.count("\n") < 250, file
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)
        assert not re.search(r"\burl\(|@import|src=\"http|href=\"http", text), file


def static_imports(module, found):
    """A module and all that it imports before it runs."""
    found.add(module)
    for name in re.findall(r'^import [^;]*?"(\.[^"]+)";', module.read_text("utf-8"), re.MULTILINE):
        if (imported := (module.parent / name).resolve()) not in found:
            static_imports(imported, found)
    return found


def test_the_first_load_of_the_playground_is_bounded(client):
    """Uncompressed: the page, the files that it loads, and the modules that they import. Formats,
    programs, presets, the history, highlighting and formulas come at their first use."""
    html = client.simulate_get("/console/playground").text
    names = {FILES / name for name in re.findall(r'(?:src|href)="page/([^"]+)"', html)}
    assert {"style.css", "playground.css", "theme.js", "mark.svg", "main.js"} <= {
        file.name for file in names
    }
    modules = static_imports(FILES / "playground" / "main.js", set())
    files = {FILES / "playground.html", *names, *modules}
    assert sum(file.stat().st_size for file in files) < 88_000
    assert not {"formula.js", "highlight.js", "history.js", "chat.js"} & {f.name for f in modules}
    everything = files | {file for file in (FILES / "playground").rglob("*") if file.is_file()}
    assert sum(file.stat().st_size for file in everything) < 132_000
