"""What gunicorn imports: `gunicorn -k gevent engine.wsgi:app`, config named by MODELWAY_CONFIG."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from gunicorn.errors import AppImportError

from engine import plan
from engine.connect import CannotConnect, prepare
from engine.memory import give_back
from engine.problem import render
from engine.serving import metrics_folder, serving

_APP_LOAD_ERROR = 4
"""What gunicorn takes for the word of a worker that can never serve."""


def load() -> Any:
    """The application of the config in MODELWAY_CONFIG (default: ./gateway.yaml).

    A config with errors is printed with all of them, and nothing is served.
    """
    os.register_at_fork(after_in_child=_refuse)
    planned = plan.make(Path(os.environ.get("MODELWAY_CONFIG", "gateway.yaml")), os.environ)
    if planned.plan is None:
        errors = planned.findings.errors
        sys.stderr.write("\n".join(render(error, planned.texts) for error in errors) + "\n")
        raise AppImportError(f"{len(errors)} problems in the config; nothing is served")
    give_back()
    try:
        if warning := prepare(planned.plan.config):
            sys.stderr.write(f"modelway: {warning}\n")
        # The workers of one gunicorn meet where its number says; this is one of them.
        folder = metrics_folder(planned.plan, os.getppid())
        return serving(planned.plan, folder, ["modelway"])
    except OSError as error:
        raise AppImportError(f"the metrics cannot be kept: {error}") from error
    except CannotConnect as error:
        raise AppImportError(str(error)) from error


def _refuse() -> None:
    """What was loaded is one worker's: its journal, its counters, its connections."""
    os.write(2, b"modelway: each worker loads this for itself: leave out gunicorn's --preload\n")
    os._exit(_APP_LOAD_ERROR)


app = load()
