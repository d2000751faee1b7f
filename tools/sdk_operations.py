"""Every method of the vendors' SDKs that sends a request: how it is called and what it sends.

`python -m tools.sdk_operations` prints one line for each: SDK, method of the client, HTTP method,
path, names in the query and in the body, type of the body. The Python SDKs are read as they are
installed; `--node FOLDER` reads those of Node in FOLDER/node_modules, too, by their text, without
the names in query and body.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

_SEND = {"_get", "_post", "_put", "_patch", "_delete", "_get_api_list"}
_NODE_CALL = re.compile(r"_client\.(\w+)\(\s*(?:\(0, path_1\.path\) ?)?([`'])(/[^`']*)\2")
_NODE_METHOD = re.compile(r"^    (?:async )?(\w+)\(", re.MULTILINE)
_GAOS = "google.genai._gaos"
_GENAI = ("batches", "caches", "documents", "file_search_stores", "files", "models", "operations")
_GENAI += ("tokens", "tunings")
_ENTERPRISE = re.compile(r"only supported in\s*(?:the )?'?\s*'?(?:the )?Gemini Enterprise")


@dataclass(frozen=True, slots=True)
class SdkOperation:
    """One method. `method` is its name in the SDK's modules (`beta.threads.runs.runs.create`),
    `kind` the body: "json", "multipart" or ""."""

    sdk: str
    method: str
    verb: str
    path: str
    query: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    kind: str = ""
    is_deprecated: bool = False

    @property
    def is_administration(self) -> bool:
        """Of an organisation, its users, keys and billing."""
        return self.method.startswith(("admin.", "organization.", "beta.organization."))


def generated(package: str) -> Iterator[SdkOperation]:
    """The methods of `openai` or `anthropic`, which are generated from the vendors' documents."""
    root = import_module(f"{package}.resources")
    for info in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
        if info.ispkg:
            continue
        module = import_module(info.name)
        name = info.name.removeprefix(f"{root.__name__}.")
        for class_ in ast.parse(inspect.getsource(module)).body:
            if isinstance(class_, ast.ClassDef) and "SyncAPIResource" in map(
                ast.unparse, class_.bases
            ):
                for function in class_.body:
                    if isinstance(function, ast.FunctionDef) and not _decorated(
                        function, "overload"
                    ):
                        yield from _requests(package, name, function)


def _decorated(function: ast.FunctionDef, word: str) -> bool:
    return any(word in ast.unparse(decorator) for decorator in function.decorator_list)


def _requests(package: str, name: str, function: ast.FunctionDef) -> Iterator[SdkOperation]:
    for call in ast.walk(function):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr not in _SEND or ast.unparse(call.func.value) != "self":
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        verb = {"_get_api_list": "GET"}.get(call.func.attr, call.func.attr[1:].upper())
        if isinstance(method := given.get("method"), ast.Constant):
            verb = str(method.value).upper()
        is_form = "files" in given or "multipart/form-data" in ast.unparse(function)
        yield SdkOperation(
            package,
            f"{name}.{function.name}",
            verb,
            _path(call.args[0]).partition("?")[0],
            tuple(n for k in ast.walk(call) if _is_query(k) for n in _names(k)),
            _body_names(given.get("body"), function),
            "" if "body" not in given else "multipart" if is_form else "json",
            _decorated(function, "deprecated"),
        )


def _is_query(node: ast.AST) -> bool:
    return isinstance(node, ast.keyword) and node.arg == "query"


def _path(node: ast.expr) -> str:
    """The path of a call, with its variables in braces; of the address that an object has, that."""
    if isinstance(node, ast.Call):
        node = node.args[0]
    return str(node.value) if isinstance(node, ast.Constant) else f"<{ast.unparse(node)}>"


def _names(node: ast.AST | None) -> tuple[str, ...]:
    """The keys of the first dictionary in an expression."""
    for below in ast.walk(node) if node is not None else ():
        if isinstance(below, ast.Dict):
            return tuple(str(k.value) for k in below.keys if isinstance(k, ast.Constant))
    return ()


def _body_names(body: ast.expr | None, function: ast.FunctionDef) -> tuple[str, ...]:
    if body is None or (names := _names(body)):
        return () if body is None else names
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "body":
            return _names(node.value)
    return ()


def genai() -> Iterator[SdkOperation]:
    """The methods of `google.genai` for the Gemini API, in both of its generations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in _GENAI:
            yield from _first_generation(name)
        for info in pkgutil.iter_modules(import_module(_GAOS).__path__):
            if info.name not in ("_hooks", "models", "resources", "sdk", "types", "utils"):
                yield from _second_generation(info.name)


def _functions(module: str) -> Iterator[ast.FunctionDef]:
    for class_ in ast.parse(inspect.getsource(import_module(module))).body:
        if isinstance(class_, ast.ClassDef) and not class_.name.startswith("Async"):
            yield from (f for f in class_.body if isinstance(f, ast.FunctionDef))


def _first_generation(name: str) -> Iterator[SdkOperation]:
    for function in _functions(f"google.genai.{name}"):
        text = ast.unparse(function)
        sends = re.search(r"_api_client\.request(?:_streamed)?\('(\w+)'", text)
        if sends is None or _ENTERPRISE.search(text):
            continue
        paths = [
            ast.unparse(node.value).removesuffix(".format_map(request_url_dict)").strip("'")
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == "path"
            and not isinstance(node.value, ast.JoinedStr)
        ]
        path = paths[-1].replace("{{", "{").replace("}}", "}")
        kind = "json" if sends[1] in ("post", "patch") else ""
        yield SdkOperation(
            "google-genai", f"{name}.{function.name}", sends[1].upper(), f"/{path}", (), (), kind
        )


def _second_generation(name: str) -> Iterator[SdkOperation]:
    for function in _functions(f"{_GAOS}.{name}"):
        for call in ast.walk(function):
            given = {k.arg: k.value for k in call.keywords} if isinstance(call, ast.Call) else {}
            path, method = given.get("path"), given.get("method")
            if isinstance(path, ast.Constant) and isinstance(method, ast.Constant):
                verb, kind = str(method.value), "json" if method.value in ("POST", "PATCH") else ""
                where = str(path.value).replace("/{api_version}", "", 1)
                if where.startswith("/upload/"):
                    where = str(path.value)
                yield SdkOperation(
                    "google-genai", f"{name}.{function.name}", verb, where, (), (), kind
                )


def node(folder: Path) -> Iterator[SdkOperation]:
    """The methods of Node's SDKs below `folder/node_modules`."""
    for package in ("openai", "@anthropic-ai/sdk"):
        root = folder / "node_modules" / package / "resources"
        for file in sorted(root.rglob("*.js")):
            name = str(file.relative_to(root).with_suffix("")).replace("/", ".")
            text = file.read_text("utf-8")
            for call in _NODE_CALL.finditer(text):
                methods = _NODE_METHOD.findall(text, 0, call.start())
                verb = "GET" if call[1] == "getAPIList" else call[1].upper()
                path = re.sub(r"\$\{(?:\w+\.)*(\w+)\}", r"{\1}", call[3]).partition("?")[0]
                method = f"{name}.{methods[-1]}" if methods else name
                yield SdkOperation(f"node {package}", method, verb, path)


def python() -> Iterator[SdkOperation]:
    """The methods of the three SDKs for Python."""
    yield from generated("openai")
    yield from generated("anthropic")
    yield from genai()


def lines(operations: Iterable[SdkOperation]) -> Iterator[str]:
    """One line for each operation."""
    for each in operations:
        parts = [each.sdk, each.method, each.verb, each.path]
        parts += [f"query={','.join(each.query)}"] if each.query else []
        parts += [f"{each.kind}={','.join(each.body)}"] if each.kind else []
        yield "\t".join(parts)


def main(arguments: list[str]) -> int:
    operations = list(python())
    if arguments[:1] == ["--node"]:
        operations += node(Path(arguments[1]))
    print(*lines(operations), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
