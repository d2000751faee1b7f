"""Loads the tokenizers that models name: a file that cannot be used is a problem of the config."""

from __future__ import annotations

from pathlib import Path as FilePath

from engine.config.config import Config
from engine.metering.tokenizer import (
    MAX_FILE,
    Tokenizer,
    UnusableTokenizer,
    is_installed,
    load,
)
from engine.source.files import is_file, read_bytes
from engine.source.problem import Findings

_EXTRA = "a tokenizer needs the extra tokenizers, which is not installed"
_INSTALL = "pip install 'modelway[tokenizers]'"
_HINT = "name the file tokenizer.json of the model, as Hugging Face has it"


def load_tokenizers(config: Config, findings: Findings) -> dict[str, Tokenizer]:
    """The tokenizers of a config's models by the paths of their files. What is wrong with a file is
    noted for each model that names it."""
    tokenizers: dict[str, Tokenizer] = {}
    problems: dict[str, tuple[str, str, str]] = {}
    for model in config.models.values():
        path = model.tokenizer
        if not path:
            continue
        if path not in tokenizers and path not in problems:
            try:
                tokenizers[path] = _load(FilePath(path))
            except _Unusable as error:
                problems[path] = error.args
        if path in problems:
            code, message, hint = problems[path]
            findings.error(config.source, (*model.at, "tokenizer"), code, message, hint)
    return tokenizers


class _Unusable(Exception):
    """The code, message and hint of a problem."""


def _load(path: FilePath) -> Tokenizer:
    """The tokenizer in a file. Raises _Unusable."""
    if not is_installed():
        raise _Unusable("MW108", _EXTRA, _INSTALL)
    if not is_file(path):
        raise _Unusable("MW106", f"there is no file '{path}'", _HINT)
    try:
        return load(read_bytes(path, MAX_FILE + 1))
    except OSError as error:
        message = f"'{path.name}' cannot be read: {error.strerror}"
        raise _Unusable("MW106", message, "let the user of the gateway read it") from error
    except UnusableTokenizer as error:
        message = f"'{path.name}' cannot be used as a tokenizer: {error}"
        raise _Unusable("MW104", message, _HINT) from error
