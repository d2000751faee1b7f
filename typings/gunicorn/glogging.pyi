import logging

from gunicorn.config import Config

class Logger(logging.Logger):
    """It has the methods of a logger, and is none."""

    error_log: logging.Logger
    def setup(self, cfg: Config) -> None: ...
    def reopen_files(self) -> None: ...
