"""The house's law of imports, read from the sources: down the staircase only, edges at the edge."""

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

ENGINE = Path(__file__).resolve().parent.parent / "engine"

GROUND = [
    *(
        "exchange",
        "flow",
        "chance",
        "errors",
        "problem",
        "tokens",
        "units",
        "body",
        "files",
        "wildcard",
    ),
    *("excerpt", "explanations", "metering", "estimate"),
    *("marked_yaml", "yaml_errors", "yaml_nodes", "yaml_values", "places", "json_text", "memory"),
    "background",
    *("usage", "allowance", "network", "ledger", "rundir", "request_id"),
    *("child_process", "boot_pipe"),
    *("usage", "allowance", "network", "listen", "ledger", "rundir", "request_id"),
    *("usage", "allowance", "network", "ledger", "rundir", "request_id", "batches", "guesses"),
    "suggest",
]
STAIRCASE = (
    GROUND,
    ["config", "spec", "dialects", "relay", "stores", "telemetry"],
    ["services", "directory", "limits", "same_origin"],
    ["services", "directory", "limits", "model_operations", "shown_models"],
    ["services", "directory", "limits", "descriptors"],
    [
        *("upstream", "stages", "policies", "pipeline", "endpoint", "incoming", "answer"),
        *("router", "cors", "sending"),
    ],
    [
        *(
            "plan",
            "claimed",
            "routing",
            "crosscheck",
            "store_urls",
            "checked_models",
            "routing",
            "crosscheck",
            "documents",
            "connect",
            "observing",
        ),
        *("readings", "tracing", "recorded", "naming"),
    ],
    ["console"],
    [
        *("app", "audit", "mock", "server", "serving", "worker", "strict", "outgoing", "received"),
        *("environ", "repeated", "reload", "trial"),
        *("environ", "repeated", "reload", "shutdown"),
        *("environ", "repeated", "reload", "shutdown", "listener"),
    ],
    ["explain"],
    ["expect", "diff"],
    ["cli", "wsgi"],
    ["__main__"],
)
"""The units of each floor, from the ground up: a module or a package right under engine/.

`__main__` is the doorstep of the top floor: one line that calls the cli.
"""

FLOOR = {unit: number for number, units in enumerate(STAIRCASE) for unit in units}

EDGES = {
    "falcon": ("endpoint", "sending", "router", "app", "mock"),
    "socket": (
        "upstream",
        "incoming",
        "server",
        "worker",
        "listener",
        "cli.demo",
        "telemetry.sink",
    ),  # the demo asks the system for free ports
    "ssl": ("upstream", "relay.websocket"),
    "select": ("upstream", "child_process"),
    "gevent.socket": ("upstream", "relay.websocket", "worker"),
    "gevent.ssl": ("upstream",),
    "http.client": (),
    "urllib.request": (),
    "httptools": ("upstream",),
    "websockets": ("relay.websocket",),
    "jsonschema_rs": ("spec", "config.shape"),
    "jsonschema": ("spec", "config.shape"),
    "jsonschema_specifications": ("spec",),
    "openapi_spec_validator": (),  # only its copy of the standard's own schema is read
    "openapi_core": ("spec.standard",),
    "swagger_ui_bundle": ("console.reference",),
    "sqlalchemy": ("stores.records",),
    "alembic": ("stores.records",),
    "sqlite3": ("stores.records",),
    "lmdb": ("stores.counters.memory", "stores.counters.shared"),
    "redis": ("stores.counters.redis_link",),
    "hiredis": ("stores.counters.redis_link",),
    "opentelemetry": ("telemetry.otlp",),
    "google": ("telemetry.otlp",),
    "prometheus_client": ("telemetry.cells", "telemetry.page", "cli.top.source"),
    "psycopg": (),  # SQLAlchemy's business
}
"""Outside modules, and the only parts of engine/ that may import them."""


class Import(NamedTuple):
    """`importer` and `imported` are dotted names, those of engine/ without `engine.`."""

    importer: str
    imported: str
    line: int
    inside: bool

    def __str__(self) -> str:
        file = self.importer.replace(".", "/") + ".py"
        return f"engine/{file}:{self.line} imports {self.imported}"


def names_of(source: str, importer: str) -> list[Import]:
    """Every import of a module, wherever it stands: at the top, in a function, for types only."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = ["a relative import"]
        else:
            continue
        for module in modules:
            inside = module.startswith("engine.")
            found.append(Import(importer, module.removeprefix("engine."), node.lineno, inside))
    return found


def sources() -> list[tuple[str, str]]:
    """Dotted name (without `engine.`) and text of every module under engine/."""
    return [
        (".".join(path.relative_to(ENGINE).with_suffix("").parts), path.read_text("utf-8"))
        for path in sorted(ENGINE.rglob("*.py"))
        if path != ENGINE / "__init__.py"
    ]


def unit(name: str) -> str:
    return name.partition(".")[0]


def package(name: str) -> str:
    """The folder a module stands in: `spec` for spec.paths, `engine` for plan."""
    return unit(name) if (ENGINE / unit(name)).is_dir() else "engine"


def breaks_the_law(found: Import) -> bool:
    """An import goes to a lower floor, or stays on its floor within one package."""
    here, there = FLOOR.get(unit(found.importer)), FLOOR.get(unit(found.imported))
    if here is None or there is None:
        return True
    if there == here:
        return package(found.importer) != package(found.imported)
    return there > here


ALL = [found for name, text in sources() for found in names_of(text, name)]


def test_every_module_has_a_floor():
    assert {unit(name) for name, _ in sources()} == set(FLOOR)


def test_imports_go_down_or_stay_in_their_package():
    assert [str(found) for found in ALL if found.inside and breaks_the_law(found)] == []


def test_the_packages_of_the_first_floor_do_not_know_each_other():
    first = set(STAIRCASE[1])
    assert [
        str(found)
        for found in ALL
        if found.inside
        and unit(found.importer) in first
        and unit(found.imported) in first - {unit(found.importer)}
    ] == []


def test_no_modules_import_each_other_in_a_circle():
    modules = {name.removesuffix(".__init__") for name, _ in sources()}
    below: dict[str, set[str]] = {}
    for found in ALL:
        if found.inside:
            imported = found.imported
            while imported and imported not in modules:
                imported = imported.rpartition(".")[0]
            importer = found.importer.removesuffix(".__init__")
            below.setdefault(importer, set()).add(imported)
    done: set[str] = set()

    def walk(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " -> ".join([*way, name])
        if name not in done:
            for following in below.get(name, ()):
                walk(following, (*way, name))
            done.add(name)

    for name in sorted(below):
        walk(name, ())


def test_no_import_is_relative():
    assert [str(found) for found in ALL if found.imported == "a relative import"] == []


ON_DEMAND = ("connect", "store_urls", "observing", "cli.explain", "stores.records.migrate")
"""Modules that import a part of ours only where a config asks for it, or Alembic only where it has
work to do: a tenth of a second at each start."""


def test_no_import_of_ours_stands_in_a_function():
    hidden = [
        f"engine/{name.replace('.', '/')}.py:{node.lineno}"
        for name, text in sources()
        if name not in ON_DEMAND
        for outer in ast.walk(ast.parse(text))
        if isinstance(outer, ast.FunctionDef)
        for node in ast.walk(outer)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert hidden == []


@pytest.mark.parametrize("library", EDGES)
def test_an_outside_library_stays_at_its_edge(library):
    allowed = EDGES[library]
    assert [
        str(found)
        for found in ALL
        if not found.inside
        and f"{found.imported}.".startswith(f"{library}.")
        and not any(f"{found.importer}.".startswith(f"{part}.") for part in allowed)
    ] == []


def test_every_edge_but_the_closed_ones_is_in_use():
    """A rule about a library that nothing imports any more guards nothing: take it out."""
    used = {found.imported for found in ALL if not found.inside}
    in_use = {lib for lib in EDGES if any(f"{name}.".startswith(f"{lib}.") for name in used)}
    wanted = {lib for lib, allowed in EDGES.items() if allowed}
    assert wanted - in_use <= {
        "ssl",
        "socket",
        "select",
        "jsonschema",
        "jsonschema_specifications",
        "openapi_core",
    }


@pytest.mark.parametrize(
    ("source", "importer"),
    [
        ("import engine.app", "spec.load"),
        ("from engine import plan", "errors"),
        ("from engine.config import model", "spec.load"),
        ("from engine.stages.validate import validate", "upstream.forward"),
        ("def f():\n    from engine.cli import main", "plan"),
        ("if TYPE_CHECKING:\n    from engine.plan import Plan", "upstream.client"),
        ("from engine.unheard_of import x", "cli"),
    ],
)
def test_the_law_can_be_broken(source, importer):
    assert [breaks_the_law(found) for found in names_of(source, importer)] == [True]


@pytest.mark.parametrize(
    ("source", "importer"),
    [
        ("from engine.problem import Problem", "marked_yaml"),
        ("from engine.spec import paths", "spec.operation"),
        ("from engine.exchange import Exchange", "exchange"),
        ("from engine import answer", "app"),
    ],
)
def test_going_down_keeps_the_law(source, importer):
    assert [breaks_the_law(found) for found in names_of(source, importer)] == [False]
