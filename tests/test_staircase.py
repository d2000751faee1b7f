"""The law of imports, read from the sources: down the floors only, libraries at the edge."""

import ast
import functools
import re
from typing import NamedTuple

import pytest

from tests.support.paths import ROOT

ENGINE = ROOT / "engine"


def floors_of(text: str) -> dict[str, int]:
    """The floor of each room, as the list in CONTRIBUTING.md has them."""
    lines = re.search(r"```floors\n(.*?)```", text, re.DOTALL)[1].splitlines()
    return {room: int(line.split()[0]) for line in lines for room in line.split()[1:]}


FLOORS = floors_of((ROOT / "CONTRIBUTING.md").read_text("utf-8"))

EDGES = {
    "falcon": ("edge",),
    "gunicorn": ("server", "wsgi"),
    "socket": ("server", "cli.demo", "telemetry.log_sink", "process.channel"),
    "ssl": ("upstream.client", "relay.websocket", "credentials.fetchers"),
    "select": ("process.child_process",),
    "gevent.socket": (
        *("upstream.client", "relay.websocket", "server.sockets", "server.large_requests"),
        "server.heavy_worker",
        *("process.computation", "process.channel"),
    ),
    "gevent.ssl": ("upstream.client",),
    # The fetchers of tokens run in a process of their own.
    "http.client": ("credentials.fetchers",),
    "urllib.request": ("credentials.fetchers",),
    "botocore": ("credentials.fetchers",),
    "azure": ("credentials.fetchers",),
    "httptools": ("upstream.client",),
    "websockets": ("relay.websocket",),
    "jsonschema_rs": ("spec", "config.schema_check", "mock.conversations.realtime.client_events"),
    "jsonschema": ("config.schema_breaches", "offline.second_opinion.openapi_core_reader"),
    "jsonschema_specifications": (),  # only its copy of a meta-schema is read
    "openapi_spec_validator": (),  # only its copy of the standard's own schema is read
    "openapi_core": ("offline.second_opinion.openapi_core_reader",),
    "sqlalchemy": ("stores.database",),
    "alembic": ("stores.database",),
    "sqlite3": ("stores.database",),
    "lmdb": (
        "stores.admission.shared_queue",
        "stores.counters.memory",
        "machine.shared_memory",
    ),
    "redis": ("stores.counters.redis",),
    "hiredis": ("stores.counters.redis.connection",),
    "dns": ("upstream.addresses.dns_lookup",),
    "opentelemetry": ("telemetry.tracing.otlp", "telemetry.metrics.otlp"),
    "google": ("telemetry.tracing.otlp", "credentials.fetchers"),
    "prometheus_client": (
        "telemetry.metrics.otlp",
        "telemetry.metrics.storage.metric_file",
        "telemetry.metrics.storage.page",
        "telemetry.metrics.storage.tables",
        "console.activity.metrics_change",
    ),
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
    result = []
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
            result.append(Import(importer, module.removeprefix("engine."), node.lineno, inside))
    return result


def sources() -> list[tuple[str, str]]:
    """Dotted name (without `engine.`) and text of every module under engine/."""
    return [
        (".".join(path.relative_to(ENGINE).with_suffix("").parts), path.read_text("utf-8"))
        for path in sorted(ENGINE.rglob("*.py"))
        if path != ENGINE / "__init__.py"
    ]


def room(name: str) -> str:
    """The folder right under engine/ that a module is in, or the module itself."""
    return name.partition(".")[0]


def breaks_the_law(each_import: Import) -> bool:
    """An import goes to a lower floor, or stays in its room. `__main__` calls the command."""
    here, there = room(each_import.importer), room(each_import.imported)
    if here not in FLOORS or there not in FLOORS:
        return True
    return here != there and FLOORS[there] >= FLOORS[here] and here != "__main__"


@functools.cache
def imports() -> list[Import]:
    """Every import of the engine."""
    return [each_import for name, text in sources() for each_import in names_of(text, name)]


def test_every_room_has_a_floor_and_nothing_else_lies_at_the_top():
    rooms = {path.parent.name for path in ENGINE.glob("*/__init__.py")}
    assert rooms | {"wsgi", "__main__"} == set(FLOORS)
    assert {path.name for path in ENGINE.glob("*.py")} == {"__init__.py", "__main__.py", "wsgi.py"}


def test_there_are_at_most_ten_floors():
    assert len(set(FLOORS.values())) <= 10


def test_every_folder_says_what_belongs_there():
    folders = {path.parent for path in ENGINE.rglob("*.py")}
    texts = {folder: (folder / "__init__.py").read_text("utf-8") for folder in folders}
    assert [f for f, text in texts.items() if not ast.get_docstring(ast.parse(text))] == []


MAX_LINES = 320
"""The most lines of a module: of a longer one, a part is a module of its own."""


def too_long(modules: list[tuple[str, str]]) -> dict[str, int]:
    """The modules of more lines than a module may have, with their number."""
    lengths = {name: text.count("\n") for name, text in modules}
    return {name: lines for name, lines in lengths.items() if lines > MAX_LINES}


def test_no_module_has_too_many_lines():
    assert too_long(sources()) == {}


@pytest.mark.parametrize(("lines", "long"), [(MAX_LINES, {}), (MAX_LINES + 1, {"a": 321})])
def test_a_module_of_one_line_too_many_is_noticed(lines, long):
    assert too_long([("a", "x = 1\n" * lines)]) == long


def test_imports_go_down_or_stay_in_their_room():
    assert [
        str(each_import)
        for each_import in imports()
        if each_import.inside and breaks_the_law(each_import)
    ] == []


def module_imports() -> dict[str, set[str]]:
    """The modules of ours that each module imports; a package is the module of its `__init__`."""
    modules = {name.removesuffix(".__init__") for name, _ in sources()}
    below: dict[str, set[str]] = {}
    for each_import in imports():
        if each_import.inside:
            imported = each_import.imported
            while imported and imported not in modules:
                imported = imported.rpartition(".")[0]
            importer = each_import.importer.removesuffix(".__init__")
            below.setdefault(importer, set()).add(imported)
    return below


def test_no_modules_import_each_other_in_a_circle():
    below = module_imports()
    visited: set[str] = set()

    def walk(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " -> ".join([*way, name])
        if name not in visited:
            for following in below.get(name, ()):
                walk(following, (*way, name))
            visited.add(name)

    for name in sorted(below):
        walk(name, ())


def circles(below: dict[str, set[str]]) -> set[frozenset[str]]:
    """The groups of names that lead to each other."""

    def reached_from(name: str) -> set[str]:
        reached: set[str] = set()
        queue = [name]
        while queue:
            new = below.get(queue.pop(), set()) - reached
            reached |= new
            queue += new
        return reached

    reach = {name: reached_from(name) for name in below}
    return {
        frozenset(other for other in names if name in reach.get(other, ()))
        for name, names in reach.items()
        if name in names
    }


FOLDER_CIRCLES = {
    # Alembic imports the steps, and these the tables that they compare with.
    frozenset({"stores.database", "stores.database.migrations"}),
}
"""The circles that there are. A new one is broken, not added."""


def test_no_folders_of_a_room_import_each_other_in_a_circle():
    packages = {n.removesuffix(".__init__") for n, _ in sources() if n.endswith(".__init__")}

    def folder(module: str) -> str:
        return module if module in packages else module.rpartition(".")[0]

    below: dict[str, set[str]] = {}
    for importer, imported in module_imports().items():
        names = {folder(name) for name in imported} - {folder(importer), ""}
        below.setdefault(folder(importer), set()).update(names)
    assert circles(below) == FOLDER_CIRCLES


def test_circles_are_groups_that_lead_to_each_other():
    below = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "e": {"a", "f"}, "f": {"e"}}
    assert circles(below) == {frozenset("bc"), frozenset("ef")}


def test_no_import_is_relative():
    assert [
        str(each_import) for each_import in imports() if each_import.imported == "a relative import"
    ] == []


ON_DEMAND = (
    "app.build",
    "app.routes.last_handler",
    "app.services.limit_counters",
    "app.services.machine_stores",
    "app.own_pages",
    "app.routes.route_handler",
    "app.routes.streamed_uploads",
    "app.services.telemetry",
    "app.services.worker_services",
    "config.schema_check",
    "plan.checks.connections",
    "cli.check",
    "cli.demo.__init__",
    "cli.explain",
    "cli.serve",
    "offline.cases.run",
    "offline.second_opinion.compare",
    "objects.sealed_ids",
    "spec.spec",
    "stores.database.migrate",
    "upstream.addresses.source",
)
"""Modules that import a part of ours only where a config asks for it, or Alembic, openapi-core and
jsonschema only where they have work to do: a tenth of a second at each start, a second, and 2 MB of
each worker; and the command `serve`, which imports the server while a child process works."""


INDENTED_IMPORT = re.compile(r"^[ \t]+(from|import) ", re.MULTILINE)
"""What a module with an import in a function has; others need not be parsed for it."""


def test_no_import_of_ours_stands_in_a_function():
    hidden = [
        f"engine/{name.replace('.', '/')}.py:{node.lineno}"
        for name, text in sources()
        if name not in ON_DEMAND and INDENTED_IMPORT.search(text)
        for outer in ast.walk(ast.parse(text))
        if isinstance(outer, ast.FunctionDef)
        for node in ast.walk(outer)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert hidden == []


PUBLIC_OF_NAMED_TUPLES = {"_replace", "_asdict", "_make", "_fields", "_field_defaults"}


def inherited_private_attributes(text: str) -> set[str]:
    """The private attributes that classes with a base from outside read and do not set: `_headers`
    of `class Mine(falcon.Response)`."""
    tree = ast.parse(text)
    outside: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module if isinstance(node, ast.ImportFrom) else ""
            names = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            outside |= names if not (module or "").startswith("engine") else set()
    private_names: set[str] = set()
    for kind in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        bases = {ast.unparse(base).partition(".")[0].partition("[")[0] for base in kind.bases}
        if bases & outside:
            private_names |= _read_and_not_set(kind)
    return private_names


def _read_and_not_set(kind: ast.ClassDef) -> set[str]:
    own = {node.name for node in kind.body if isinstance(node, ast.FunctionDef)}
    for node in kind.body:
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        own |= {target.id for target in targets if isinstance(target, ast.Name)}
    mine = [
        node
        for node in ast.walk(kind)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
        and re.match(r"_[^_]", node.attr)
    ]
    own |= {node.attr for node in mine if isinstance(node.ctx, ast.Store)}
    return {node.attr for node in mine} - own - PUBLIC_OF_NAMED_TUPLES


def test_no_private_attribute_of_a_library_is_used_by_a_subclass():
    example = "import falcon\nclass A(falcon.Response):\n    def f(self): return self._headers\n"
    assert inherited_private_attributes(example) == {"_headers"}
    assert {
        name: used
        for name, text in sources()
        if "self._" in text and (used := inherited_private_attributes(text))
    } == {}


@pytest.mark.parametrize("library", EDGES)
def test_an_outside_library_stays_at_its_edge(library):
    allowed = EDGES[library]
    assert [
        str(each_import)
        for each_import in imports()
        if not each_import.inside
        and f"{each_import.imported}.".startswith(f"{library}.")
        and not any(f"{each_import.importer}.".startswith(f"{part}.") for part in allowed)
    ] == []


def test_every_part_of_an_edge_is_in_use():
    """A part that does not import the library is no longer named."""
    used = [each_import for each_import in imports() if not each_import.inside]
    unused = [
        f"{part} imports no {library}"
        for library, parts in EDGES.items()
        for part in parts
        if not any(
            f"{each_import.imported}.".startswith(f"{library}.")
            and f"{each_import.importer}.".startswith(f"{part}.")
            for each_import in used
        )
    ]
    assert unused == []


@pytest.mark.parametrize(
    ("source", "importer"),
    [
        ("import engine.app", "spec.load"),
        ("from engine import plan", "values.errors"),
        ("from engine.config import models", "spec.load"),
        ("from engine.callers import cache", "transforms.template"),
        ("from engine.stages.validate import validate", "upstream.forward"),
        ("def f():\n    from engine.cli import main", "plan.make"),
        ("if TYPE_CHECKING:\n    from engine.plan import make", "upstream.forward"),
        ("from engine.unheard_of import x", "cli.check"),
    ],
)
def test_the_law_can_be_broken(source, importer):
    assert [breaks_the_law(each_import) for each_import in names_of(source, importer)] == [True]


@pytest.mark.parametrize(
    ("source", "importer"),
    [
        ("from engine.values.errors import GatewayError", "exchange.exchange"),
        ("from engine.spec import path_templates", "spec.operation"),
        ("from engine.exchange.exchange import Exchange", "exchange.stage_services"),
        ("from engine.edge import router", "app.build"),
    ],
)
def test_going_down_keeps_the_law(source, importer):
    assert [breaks_the_law(each_import) for each_import in names_of(source, importer)] == [False]
