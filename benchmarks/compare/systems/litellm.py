"""LiteLLM's proxy from PyPI in an environment of its own: a master key, one worker, no database.

Configured as https://docs.litellm.ai/docs/proxy/prod says. It may call nobody outside: its list of
prices is its own, and proxies that are not there stand in the way of the rest.
"""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.compare.environment import installed, version_in
from benchmarks.compare.system import System, Upstream
from tests.support.ports import free_port

NAME = "LiteLLM"
_REQUIREMENT = "litellm[proxy]==1.108.7"
"""The newest that can be installed: later ones need a package that PyPI does not have."""
_TOKEN = "sk-benchmark-benchmark"
_CONFIG = """
model_list:
  - model_name: gpt-4o
    litellm_params:
      model: openai/gpt-4o
      api_base: {upstream}/v1
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


def prepare(folder: Path, upstream: Upstream) -> System:
    """Raises LeftOut where it cannot be installed."""
    home = installed("litellm", _REQUIREMENT)
    (folder / "config.yaml").write_text(_CONFIG.format(upstream=upstream.origin, token=_TOKEN))
    port = free_port()
    command = [str(home / "bin" / "litellm"), "--config", str(folder / "config.yaml")]
    command += ["--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"]
    command += ["--telemetry", "False"]
    environ = {**_ENVIRON, "PATH": f"{home / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": ""}
    if upstream.ca:
        environ["SSL_CERT_FILE"] = str(upstream.ca)
    caches = ("PYTHONPYCACHEPREFIX",)
    name_and_version = f"LiteLLM {version_in(home, 'litellm')}"
    return System(
        NAME,
        name_and_version,
        command,
        folder,
        port,
        (_TOKEN,),
        environ,
        paced=20,
        caches=caches,
        peer=True,
    )
