#!/usr/bin/env python3
"""Memory of idle keep-alive connections: resident memory of `onrush serve` before, with, and behind them.

    bench/idle_connections.py [--connections 10000] [--onrush BINARY] [--most-mib 100] [--out NAME]

Each connection sends one request, reads its response and then waits. The figure is the growth of the server's resident memory
divided by the connections; what the kernel keeps for its sockets is not in it. Ends with 1 when the server has more than
`--most-mib` in all.
"""

import argparse
import os
import resource
import socket
import sys
import time

import record
from serve_small import onrush

HERE = os.path.dirname(os.path.abspath(__file__))
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect(port, number):
    s = socket.socket()
    # One address has 28,000 ports; loopback has many addresses.
    s.bind((f"127.0.0.{2 + number // 20_000}", 0))
    s.connect(("127.0.0.1", port))
    s.sendall(REQUEST)
    return s


def finish(s):
    data = b""
    while b"\r\n\r\n" not in data or not data.endswith(b"\n"):
        part = s.recv(4096)
        if not part:
            raise SystemExit("the server closed a connection")
        data += part


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--onrush", default=os.path.join(HERE, "..", "target", "release", "onrush"))
    parser.add_argument("--most-mib", type=float, default=100)
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--out", help="write results/DATE-MACHINE/NAME.md")
    args = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, args.connections + 200), hard))
    served = onrush(args.onrush, None, args.server_cpu)
    try:
        before = served.program.usage().rss
        clients = []
        for number in range(args.connections):
            clients.append(connect(served.port, number))
            if len(clients) % 50 == 0:
                [finish(s) for s in clients[-50:]]
        [finish(s) for s in clients[len(clients) - len(clients) % 50:]]
        time.sleep(1.5)
        during = served.program.usage()
        # They still work.
        [s.sendall(REQUEST) for s in clients[::100]]
        [finish(s) for s in clients[::100]]
        [s.close() for s in clients]
        time.sleep(1.5)
        behind = served.program.usage().rss
    finally:
        served.stop()
    mib = 1 << 20
    text = (f"| idle connections | resident before MiB | with them | peak | behind them | KiB each |\n|---|---|---|---|---|---|\n"
            f"| {args.connections:,} | {before / mib:.1f} | {during.rss / mib:.1f} | {during.peak / mib:.1f} | {behind / mib:.1f} | "
            f"{(during.rss - before) / args.connections / 1024:.2f} |")
    print(text)
    if args.out:
        record.save(args.out, "# Idle connections of a server\n\nOne request on each, then nothing; plain tcp, one worker.\n\n"
                    f"{text}\n")
    sys.exit(during.peak / mib > args.most_mib)


if __name__ == "__main__":
    main()
