"""Script that runs a command in a sandbox without network and forwards one port of its loopback to a unix socket.

It uses the standard library alone, because it starts inside the sandbox, as
`python forward.py PORT SOCKET -- COMMAND ...`, and ends with the command's exit code.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from contextlib import suppress

CHUNK_BYTES = 65536


def main(arguments: list[str]) -> int:
    """Listen, then run the command; return its exit code, or 128 + n if signal n ended it."""
    port, path, _, *command = arguments
    listener = socket.create_server(("127.0.0.1", int(port)))
    child = os.fork()
    if child == 0:
        listener.close()
        _become(command)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: os.kill(child, received))
    threading.Thread(target=_accept, args=(listener, path), daemon=True).start()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _become(command: list[str]) -> None:
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        os._exit(127)


def _accept(listener: socket.socket, path: str) -> None:
    while True:
        inner, _ = listener.accept()
        threading.Thread(target=_carry, args=(inner, path), daemon=True).start()


def _carry(inner: socket.socket, path: str) -> None:
    with inner, socket.socket(socket.AF_UNIX) as outer:
        try:
            outer.connect(path)
        except OSError:
            return  # the proxy of this run is over; the command sees a closed connection
        back = threading.Thread(target=_pour, args=(outer, inner), daemon=True)
        back.start()
        _pour(inner, outer)
        back.join()


def _pour(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while chunk := source.recv(CHUNK_BYTES):
            sink.sendall(chunk)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
