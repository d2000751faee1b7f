import logging
import ssl
from collections.abc import Iterable
from typing import Any

from gunicorn.config import Config

def create_sockets(conf: Config, log: logging.Logger) -> list[Any]: ...
def close_sockets(listeners: Iterable[Any], unlink: bool = ...) -> None: ...
def ssl_context(conf: Config) -> ssl.SSLContext: ...
