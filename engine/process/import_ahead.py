"""The first start after an installation: two processes compile the program.

Some installers, such as uv, leave it to the first import of a module to compile its byte code,
which is then most of a start. Where it is missing, a child imports the program from its other end:
this process finds byte code where it gets to what the child has imported.
"""

from __future__ import annotations

import gc
import os
import posix
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import cache_from_source
from pathlib import Path
from typing import NoReturn

_ROOT = Path(__file__).resolve().parents[2]


def import_ahead(modules: Sequence[str]) -> bool:
    """Import modules of the program in a child process: those that this process imports last, in
    another order. Only if the first of them has no byte code, which can be written, and there is
    a second processor. Returns whether a child was started.

    The child ends by itself, and nothing waits for it: the master of a gateway reaps all of its
    children.
    """
    if sys.dont_write_bytecode or len(os.sched_getaffinity(0)) < 2 or not _lacks_code(modules[0]):
        return False
    try:
        child = posix.fork()
    except OSError:
        return False  # a start does not depend on it
    if child == 0:
        _import_and_end(modules)
    return True


def _lacks_code(module: str) -> bool:
    """Whether a module has a source and no byte code, for which there is a folder to write to."""
    source = _ROOT.joinpath(*module.split(".")).with_suffix(".py")
    code = Path(cache_from_source(str(source)))
    if code.exists() or not source.exists():
        return False
    folder = next(folder for folder in code.parents if folder.exists())
    return os.access(folder, os.W_OK)


def _import_and_end(modules: Sequence[str]) -> NoReturn:
    """In the child: import the modules, and end without any clean-up. Whatever fails here fails in
    the parent as well, which says so."""
    try:
        gc.disable()
        for module in modules:
            import_module(module)
    finally:
        posix._exit(0)
