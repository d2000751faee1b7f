"""TensorZero's HTTP gateway, written in Rust, as its Python package starts it in this process.

No database, no authentication, no observability, no store for images: it validates, translates and
forwards. It listens
on a port of its own choice, which the start script writes into a file.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.compare.environment import installed, version_in
from benchmarks.compare.system import System, Upstream

NAME = "TensorZero"
_REQUIREMENT = "tensorzero==2026.6.0"
_CONFIG = """
[gateway]
observability.enabled = false
disable_pseudonymous_usage_analytics = true

[object_storage]
type = "disabled"

[models.gpt-4o]
routing = ["up"]

[models.gpt-4o.providers.up]
type = "openai"
model_name = "gpt-4o"
api_base = "{upstream}/v1/"
api_key_location = "none"
"""
_START = """
import signal
from pathlib import Path
from urllib.parse import urlsplit
import tensorzero

gateway = tensorzero._start_http_gateway(
    config_file="tensorzero.toml",
    clickhouse_url=None,
    postgres_url=None,
    valkey_url=None,
    async_setup=False,
)
Path("port.new").write_text(str(urlsplit(gateway.base_url).port))
Path("port.new").rename("port")
signal.pause()
"""


def prepare(folder: Path, upstream: Upstream) -> System:
    """Raises LeftOut where it cannot be installed."""
    home = installed("tensorzero", _REQUIREMENT)
    (folder / "tensorzero.toml").write_text(_CONFIG.format(upstream=upstream.origin))
    (folder / "start.py").write_text(_START)
    environ = {"SSL_CERT_FILE": str(upstream.ca)} if upstream.ca else {}
    command = [str(home / "bin" / "python"), "start.py"]
    return System(
        NAME,
        f"TensorZero {version_in(home, 'tensorzero')}",
        command,
        folder,
        folder / "port",
        environ=environ,
        path="/openai/v1/chat/completions",
        model="tensorzero::model_name::gpt-4o",
        peer=True,
    )
