"""What documents and large configs cost: `python benchmarks/documents.py [vendor's openapi.yaml]`.

Each figure is measured in a new process, in CPU seconds: plan and build of the vendor's document,
with an empty cache and with a full one, and the memory of the process; its memory after twenty
reloads of a document that changed each time; the validation of a chat body; a config of 10,000
routes and 10,000 models, and a request through it beside one of ten routes.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import falcon.testing
import orjson

from benchmarks.chat import BODY, CHAT
from engine.app.build import build
from engine.offline.rehearsal.observation import SentRequest, UpstreamAnswers
from engine.offline.rehearsal.stand_ins import recorder
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import PlanResult
from engine.process.gc_pause import release_memory
from engine.spec.bodies.request_bodies import check
from engine.values.caller import digest

_SHARED = Path(__file__).resolve().parents[2] / "shared"
VENDOR = Path(os.environ.get("MODELWAY_SHARED") or _SHARED) / "documents/openai/openapi.yaml"
_TOKEN = "mw-" + "a" * 64
_VENDOR_CONFIG = """version: 1
specs: {{openai: {{document: "{document}", dialect: openai}}}}
upstreams: {{up: {{url: "http://127.0.0.1:9/v1", dialect: openai}}}}
models: {{"*": {{to: [{{upstream: up}}]}}}}
routes:
  - {{operation: openai.createChatCompletion, model: $request.body#/model}}
  - {{operations: openai.*, to: [{{upstream: up}}]}}
"""


def ready(folder: Path) -> None:
    """Print the CPU of plan and build, and the memory of this process."""
    start = time.process_time()
    planned = make_plan(folder / "gateway.yaml", os.environ)
    assert planned.plan is not None, planned.findings.errors[:5]
    release_memory()
    middle = time.process_time()
    build(planned.plan)
    seconds = time.process_time() - start
    routes = len(planned.plan.routes)
    text = f"plan {middle - start:.2f} s, with build {seconds:.2f} s"
    print(f"{text}, whole process {time.process_time():.2f} s; {routes} routes, ", end="")
    print(f"{resident()} MB")


def resident() -> int:
    """Resident memory of this process, in MB (a million bytes)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") // 1_000_000


def reload(folder: Path, times: int = 20) -> None:
    """Print the memory after 0, 1 and `times` reloads of a document that changes each time."""
    document, plan, memory = folder / "changing.yaml", None, []
    text = document.read_text()
    for number in range(times + 1):
        document.write_text(text.replace("title: ", f"title: {number} ", 1))
        planned = make_plan(folder / "changing.gateway.yaml", os.environ)
        assert planned.plan is not None, planned.findings.errors[:5]
        plan = planned.plan
        del planned
        release_memory()
        memory.append(resident())
    print(f"{memory[0]} MB, then {memory[1]}, at last {memory[-1]} MB ({len(plan.routes)} routes)")


def measure(name: str, folder: Path, option: str = "--ready") -> None:
    environ = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    command = [sys.executable, __file__, option, str(folder)]
    process = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    print(f"{name:28}{process.stdout.strip()}")


def measure_check(folder: Path) -> None:
    """Print the wall time of `modelway check`."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "engine", "check", "-c", str(folder / "gateway.yaml"), "-q"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    print(f"{'':28}checked in {time.perf_counter() - start:.1f} s: {process.stdout.strip()[-60:]}")


def per_call(call: Callable[[], object], rounds: int = 7, calls: int = 2000) -> float:
    """Microseconds of CPU for one call, the best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(calls):
            call()
        best = min(best, time.process_time() - start)
    return best / calls * 1e6


def chat(folder: Path) -> None:
    planned = make_plan(folder / "gateway.yaml", {"XDG_CACHE_HOME": str(folder / "cache")})
    rule = planned.specifications["openai"].operations["createChatCompletion"].bodies.rules
    rule_of = rule["application/json"]
    both = per_call(lambda: check(rule_of, orjson.loads(BODY)))
    print(f"{'a chat body of ' + str(len(BODY)) + ' bytes':28}", end="")
    print(f"{per_call(lambda: check(rule_of, CHAT)):.1f} us, parsed as well {both:.1f} us")


def large(folder: Path, count: int) -> None:
    """A config of `count` routes and models, with a document of as many operations."""
    folder.mkdir()
    schema = {"type": "object", "properties": {"model": {"type": "string"}}}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S"}}}}
    paths = {
        f"/things{n}/x/go": {
            "post": {
                "operationId": f"op{n}",
                "requestBody": body,
                "responses": {"200": {"description": "d"}},
            }
        }
        for n in range(count)
    }
    document = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths}
    document["components"] = {"schemas": {"S": schema}}
    (folder / "api.json").write_text(json.dumps(document))
    lines = ["version: 1", "specs: {api: {document: api.json}}"]
    lines += ["upstreams: {up: {url: 'http://127.0.0.1:9', proxy: '', retry: {attempts: 1}}}"]
    lines += ["models:"]
    lines += [f"  model-{n}: {{to: [{{upstream: up}}]}}" for n in range(count)]
    lines += ["routes:"]
    model = "model: $request.body#/model"
    lines += [f"  - {{operation: api.op{n}, {model}}}" for n in range(count)]
    lines += [f"tokens: [{{name: one, sha256: {digest(_TOKEN)}}}]"]
    (folder / "gateway.yaml").write_text("\n".join(lines) + "\n")


def requests(folders: dict[int, Path]) -> None:
    """Print the CPU of a request through the application, with a client that needs no upstream."""
    calls = {}
    for count, folder in folders.items():
        planned = make_plan(folder / "gateway.yaml", {"XDG_CACHE_HOME": str(folder / "cache")})
        calls[count] = _call(planned, count // 2)
    least = {count: float("inf") for count in calls}
    for _ in range(15):  # in turns: other load of the machine affects both
        for count, call in calls.items():
            least[count] = min(least[count], per_call(call, rounds=1, calls=400))
    for count, best in least.items():
        print(f"{f'a request among {count:,} routes':28}{best:.1f} us")


def _call(planned: PlanResult, number: int) -> Callable[[], object]:
    upstream_requests: list[SentRequest] = []
    assert planned.plan is not None
    app = build(planned.plan, client=recorder(upstream_requests, UpstreamAnswers()))
    path = f"/things{number}/x/go"
    body = orjson.dumps({"model": f"model-{number}"})
    headers = {"content-type": "application/json", "authorization": f"Bearer {_TOKEN}"}
    environ = falcon.testing.create_environ(path, method="POST", headers=headers)
    environ["RAW_URI"] = path
    environ["CONTENT_LENGTH"] = str(len(body))

    def call() -> object:
        upstream_requests.clear()
        answer = app({**environ, "wsgi.input": io.BytesIO(body)}, lambda *_: None)
        body_text = b"".join(answer)
        answer.close()
        assert len(upstream_requests) == 1, body_text
        return body_text

    return call


def main() -> None:
    if sys.argv[1:2] == ["--ready"]:
        ready(Path(sys.argv[2]))
        return
    if sys.argv[1:2] == ["--reloaded"]:
        reload(Path(sys.argv[2]))
        return
    vendor = Path(sys.argv[1]) if sys.argv[1:] else VENDOR
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if vendor.is_file():
            (folder / "gateway.yaml").write_text(_VENDOR_CONFIG.format(document=vendor))
            measure("the vendor's, cold", folder)
            measure("the vendor's, cached", folder)
            changing = _VENDOR_CONFIG.format(document="changing.yaml")
            (folder / "changing.gateway.yaml").write_text(changing)
            (folder / "changing.yaml").write_bytes(vendor.read_bytes())
            measure("changed twenty times", folder, "--reloaded")
            measure_check(folder)
            chat(folder)
        folders = {count: folder / str(count) for count in (10, 10_000)}
        for count, path in folders.items():
            large(path, count)
            measure(f"{count:,} routes and models", path)
            measure_check(path)
        requests(folders)


if __name__ == "__main__":
    main()
