"""nginx with `proxy_pass` and kept-alive upstreams. It looks at nothing, and writes no log."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from benchmarks.compare.system import LeftOut, System, Upstream
from tests.support.ports import free_port

NAME = "nginx"
_CONFIG = """
worker_processes 1;
worker_rlimit_nofile 65536;
daemon off;
pid nginx.pid;
error_log error.log;
events {{ worker_connections 20000; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  client_max_body_size 0;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  upstream up {{ server 127.0.0.1:{upstream}; keepalive 128; keepalive_requests 1000000000; }}
  server {{
    listen 127.0.0.1:{port}{listen} backlog=4096;
    {server}
    location / {{
      proxy_pass {scheme}://up;
      {location}
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_request_buffering off;
    }}
  }}
}}
"""
_TLS = "proxy_ssl_verify on; proxy_ssl_name localhost; proxy_ssl_trusted_certificate {ca};"


def program() -> str:
    """The path of nginx. Raises LeftOut where there is none."""
    path = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if path is None:
        raise LeftOut("nginx is not installed (Debian: apt-get install nginx-light)")
    return path


def configure(
    folder: Path,
    port: int,
    upstream: Upstream,
    *,
    listen: str = "",
    server: str = "",
    location: str = "",
) -> list[str]:
    """Write the config of a proxy on `port`, and return the command that starts it.

    `listen`, `server` and `location` are further words for the blocks of these names.
    """
    scheme = upstream.origin.partition(":")[0]
    text = _CONFIG.format(
        port=port,
        upstream=upstream.port,
        scheme=scheme,
        listen=listen,
        server=server,
        location=location,
    )
    (folder / "nginx.conf").write_text(text)
    return [program(), "-p", str(folder), "-e", "error.log", "-c", str(folder / "nginx.conf")]


def prepare(folder: Path, upstream: Upstream) -> System:
    """Raises LeftOut where there is no nginx."""
    port = free_port()
    location = _TLS.format(ca=upstream.ca) if upstream.ca else ""
    command = configure(folder, port, upstream, location=location)
    process = subprocess.run([command[0], "-v"], capture_output=True, text=True, check=True)
    version = process.stderr.strip().rpartition("/")[2]
    return System(NAME, f"nginx {version}", command, folder, port)
