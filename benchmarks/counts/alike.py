"""What instruction counts depend on besides the engine: only like may be compared with like."""

from __future__ import annotations

import platform
import subprocess
import sysconfig
from importlib.metadata import version

_LIBRARIES = (
    "falcon",
    "gevent",
    "greenlet",
    "gunicorn",
    "gunicorn_h1c",
    "httptools",
    "jsonschema-rs",
    "lmdb",
    "orjson",
    "prometheus_client",
    "SQLAlchemy",
)


def surroundings() -> dict[str, str]:
    """Versions of all that is counted along with the engine, by name."""
    arguments = str(sysconfig.get_config_var("CONFIG_ARGS"))
    build = [platform.python_compiler()]
    build += ["optimized"] if "--enable-optimizations" in arguments else []
    build += ["shared"] if sysconfig.get_config_var("Py_ENABLE_SHARED") else []
    valgrind = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True)
    return {
        "python": platform.python_version(),
        "build": ", ".join(build),
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()),
        "valgrind": valgrind.stdout.strip(),
        **{name: version(name) for name in _LIBRARIES},
    }


def difference(recorded: dict[str, str], now: dict[str, str]) -> str:
    """Where they differ, in words; "" where they do not."""
    names = [name for name in {**recorded, **now} if recorded.get(name) != now.get(name)]
    return ", ".join(f"{n} {now.get(n, 'none')}, not {recorded.get(n, 'none')}" for n in names)
