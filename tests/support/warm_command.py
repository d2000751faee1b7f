"""The command `modelway` of a shell that has inherited `Warm.shells`: a copy of the process that
has imported the engine runs it, with the folder, variables and files of this one. It passes signals
on, and ends as the copy does. It starts in a fiftieth of a second, so it imports little."""

import json
import os
import signal
import socket
import sys

VARIABLE = "SHELLS_DESCRIPTOR"
"""Names the descriptor."""


def main() -> None:
    environ = dict(os.environ)
    shells = socket.socket(fileno=int(environ.pop(VARIABLE)))
    own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    request = {"argv": sys.argv[1:], "cwd": os.getcwd(), "env": environ}
    with other:
        socket.send_fds(shells, [json.dumps(request).encode()], [0, 1, 2, other.fileno()])
    pid = json.loads(own.recv(100))
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os.kill(pid, number))
    status = json.loads(own.recv(100))
    os._exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
