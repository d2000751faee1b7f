"""What counts: instructions of the processor, steps of the interpreter in the engine's code, or its
modules."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

_ENGINE = f"{Path(__file__).resolve().parents[2] / 'engine'}{os.sep}"
_TOTAL = re.compile(r"^(?:totals|summary): (\d+)$", re.MULTILINE)


class Meter(Protocol):
    """Counts between `zero` and `read`, once it has begun."""

    def begin(self) -> None: ...

    def zero(self) -> None: ...

    def read(self) -> float: ...


class Instructions:
    """Instructions of the whole process outside the kernel; only under callgrind, whose files go to
    the working directory. `library` is the compiled marks.c."""

    def __init__(self, library: str) -> None:
        self._marks = ctypes.CDLL(library)
        self._dumps = 0

    def begin(self) -> None:
        self._marks.begin()

    def zero(self) -> None:
        self._marks.zero()

    def read(self) -> float:
        self._dumps += 1
        self._marks.dump(b"read")
        (dump,) = Path().glob(f"callgrind.out.{os.getpid()}.{self._dumps}")
        return int(_TOTAL.findall(dump.read_text())[-1])


class Bytecodes:
    """Steps of the interpreter in functions of the engine: the same on every machine, whatever the
    interpreter was compiled with. They say nothing of what libraries do."""

    def __init__(self) -> None:
        self._count = 0
        sys.settrace(self._call)

    def begin(self) -> None:
        """Counting goes on from the start: a function that runs already cannot be told to."""

    def zero(self) -> None:
        self._count = 0

    def read(self) -> float:
        return self._count

    def _call(self, frame: FrameType, event: str, value: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_ENGINE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame: FrameType, event: str, value: Any) -> Any:
        if event == "opcode":
            self._count += 1
        return self._step


class Moves:
    """The modules of the engine that are entered, and the `calls` from one module into another, ""
    for those from a library: what a reader of a request's path opens, and how often they turn to
    another file."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.calls: Counter[tuple[str, str]] = Counter()

    def begin(self) -> None:
        """Calls of functions that run already count, too."""
        sys.settrace(self._call)

    def end(self) -> None:
        sys.settrace(None)

    def _call(self, frame: FrameType, event: str, value: Any) -> None:
        module = frame.f_code.co_filename
        if not module.startswith(_ENGINE):
            return
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(_ENGINE):
            caller = caller.f_back
        self.modules.add(module)
        source = "" if caller is None else caller.f_code.co_filename
        if source != module:
            self.calls[source.removeprefix(_ENGINE), module.removeprefix(_ENGINE)] += 1
