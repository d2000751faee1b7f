"""LiteLLM's proxy from PyPI in an environment of its own: a master key, one worker, no database.

Configured as https://docs.litellm.ai/docs/proxy/prod says. It may call nobody outside: its list of
prices is its own, and proxies that are not there stand in the way of the rest.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.compare.system import LeftOut, System, free_port

NAME = "LiteLLM"
_TOKEN = "sk-benchmark-benchmark"
_CONFIG = """
model_list:
  - model_name: gpt-4o
    litellm_params:
      model: openai/gpt-4o
      api_base: http://127.0.0.1:{upstream}/v1
      api_key: sk-benchmark
general_settings:
  master_key: {token}
litellm_settings:
  request_timeout: 600
  set_verbose: false
  json_logs: true
"""
_NOWHERE = "http://127.0.0.1:9"
_ENVIRON = {
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "ERROR",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "HTTPS_PROXY": _NOWHERE,
    "https_proxy": _NOWHERE,
    "NO_PROXY": "127.0.0.1,localhost",
    "no_proxy": "127.0.0.1,localhost",
}


def prepare(folder: Path, upstream: int) -> System:
    """Raises LeftOut where it cannot be installed."""
    home = installed()
    (folder / "config.yaml").write_text(_CONFIG.format(upstream=upstream, token=_TOKEN))
    port = free_port()
    command = [str(home / "bin" / "litellm"), "--config", str(folder / "config.yaml")]
    command += ["--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"]
    command += ["--telemetry", "False"]
    environ = {**_ENVIRON, "PATH": f"{home / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": ""}
    caches = ("PYTHONPYCACHEPREFIX",)
    said = f"LiteLLM {_version(home)}"
    return System(NAME, said, command, folder, port, _TOKEN, environ, paced=20, caches=caches)


def installed() -> Path:
    """Its virtual environment, in the cache folder of this user; made at the first call."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    home = cache / "modelway-benchmarks" / f"litellm-{python}"
    if not (home / "bin" / "litellm").exists():
        _run([sys.executable, "-m", "venv", str(home)])
        _run([str(home / "bin" / "pip"), "install", "--quiet", "litellm[proxy]"])
    return home


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LeftOut(f"it cannot be installed: {done.stderr.strip()[-300:]}")


def _version(home: Path) -> str:
    code = "from importlib.metadata import version; print(version('litellm'))"
    command = [str(home / "bin" / "python"), "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
