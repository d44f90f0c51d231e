#!/usr/bin/env python3
"""A receiver of outputs that behaves well or badly: bench/receivers.py MANNER PORT.

It speaks as much HTTP as an output needs, and counts nothing: what arrived is what the generator does not report as lost.
"""

import socket
import sys
import threading
import time

MANNERS = {
    "fine": "takes everything and answers 204",
    "hangs": "accepts connections and reads nothing",
    "slow": "reads 64 KiB each 50 ms",
    "refuses": "answers 500",
    "silent": "takes everything and never answers",
}
PIECE = 64 << 10


def _head(stream):
    """Reads up to the body; its length, and what came of it already."""
    got = b""
    while b"\r\n\r\n" not in got:
        piece = stream.recv(PIECE)
        if not piece:
            return None
        got += piece
    head, _, rest = got.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    return int(lengths[0]) if lengths else 0, len(rest)


def serve(stream, manner):
    """Until the peer is gone."""
    if manner == "hangs":
        time.sleep(3600)
    with stream:
        while begun := _head(stream):
            length, got = begun
            while got < length:
                piece = stream.recv(PIECE)
                if not piece:
                    return
                got += len(piece)
                if manner == "slow":
                    time.sleep(0.05)
            if manner == "silent":
                time.sleep(3600)
            status = b"500 Internal Server Error" if manner == "refuses" else b"204 No Content"
            stream.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n")


def main():
    manner, port = sys.argv[1], int(sys.argv[2])
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if manner == "slow":
        # Otherwise the kernel would take megabytes for it.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, PIECE)
    listener.bind(("127.0.0.1", port))
    listener.listen(64)
    while True:
        stream, _ = listener.accept()
        threading.Thread(target=serve, args=(stream, manner), daemon=True).start()


if __name__ == "__main__":
    main()
