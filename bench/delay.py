#!/usr/bin/env python3
"""Message delay (`onrush/delay`) against a server that holds messages a known time.

    bench/delay.py [--messages 100] [--users 10] [--onrush BINARY] [--quick] [--out NAME]

Server (`onrush serve`, its route /ws/hold) and generator on a CPU each. Users send a message, wait for it to come back, and send the
next a little later. The server tells when each message came and when it went, by its own clock, which here is the generator's too. The
error is the delay that was measured less the time in the server and the round trip of the link. Idle, and beside a user of the same
worker that computes 20 ms at a time, half of the time. `in handlers` is the error of a script that reads the clock in its handler
instead of asking for the arrival. Held is an error of at most 1 ms for 99 % of the messages; beside the computing user with a link it
is only told: links live in the generator, and what they carry leaves late when it is busy, which is then true of the message.
"""

import argparse
import datetime
import json
import os
import sys
import tempfile

import record
from process import Program, wait_until_quiet
from run import git_commit, machine
from server import _free_ports
from serve_small import wait_until_answering

HERE = os.path.dirname(os.path.abspath(__file__))
HOLDS_MS = [0, 1, 5, 20, 100, 500]
LINK_MS = 20
AIM_MS = 1.0


def cell(args, url, module, hold, latency, burns):
    """The Trends of one run, by name."""
    wait_until_quiet(args.quiet, args.patience)
    # Half a minute for the longest hold is enough messages for a p99.
    messages = max(20, min(args.messages, int(15_000 / (hold + latency + 20))))
    seconds = messages * (hold + latency + 40) / 1000 + 1
    with tempfile.TemporaryDirectory(prefix="onrush-bench-") as scratch:
        summary = f"{scratch}/summary.json"
        env = {"URL": f"{url}/ws/hold/{hold}ms", "MODULE": module, "USERS": args.users, "MESSAGES": messages, "SECONDS": seconds,
               "LATENCY_MS": latency, "BURN": "1" if burns else "", "SUMMARY": summary}
        command = [args.onrush, "run", "-q", "--workers", "1", *(p for k, v in env.items() for p in ("-e", f"{k}={v}")),
                   f"{HERE}/scripts/delay.js"]
        program = Program(command, args.generator_cpu)
        try:
            if not program.wait(300) or program.exit != 0:
                sys.exit(f"{' '.join(command)} failed: {program.text()}")
        finally:
            program.stop()
        with open(summary) as f:
            got = json.load(f)
    if got["delay_error"]["count"] != messages * args.users:
        sys.exit(f"{' '.join(command)}: {got['delay_error']['count']} of {messages * args.users} messages came: {program.text()}")
    return got


def table(args, urls):
    lines = ["| module | connection | generator | held | messages | least | median | p99 | most | p99 in handlers | |",
             "|---|---|---|--:|--:|--:|--:|--:|--:|--:|---|"]
    holds = [1, 20] if args.quick else HOLDS_MS
    for module in ("ws", "websockets"):
        for connection, url, latency in (("plain", urls[0], 0), ("TLS", urls[1], 0), (f"link of {LINK_MS} ms", urls[0], LINK_MS)):
            for burns in (False, True):
                for hold in holds:
                    got = cell(args, url, module, hold, latency, burns)
                    error, handlers = got["delay_error"], got["handler_error"]
                    held = -AIM_MS <= error["min"] and error["p(99)"] <= AIM_MS
                    verdict = "reached" if held else "told" if burns and latency else "**not reached**"
                    figures = " | ".join(f"{error[stat]:+.3f} ms" for stat in ("min", "med", "p(99)", "max"))
                    lines.append(f"| k6/{module} | {connection} | {'computes' if burns else 'idle'} | {hold} ms | {error['count']:.0f} | "
                                 f"{figures} | {handlers['p(99)']:+.3f} ms | {verdict} |")
                    print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=100, help="of each user")
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--onrush", default=os.path.join(HERE, "..", "target", "release", "onrush"))
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--generator-cpu", default="1")
    parser.add_argument("--quick", action="store_true", help="two times of holding only")
    parser.add_argument("--quiet", type=float, default=0.15, help="wait until the machine uses fewer CPUs than this")
    parser.add_argument("--patience", type=float, default=30)
    parser.add_argument("--out", help="write results/DATE-MACHINE/NAME.md")
    args = parser.parse_args()
    plain, tls = _free_ports(2)
    listen = ["--listen", f"tcp://127.0.0.1:{plain}", "--listen", f"tls://127.0.0.1:{tls}"]
    server = Program([args.onrush, "serve", *listen], args.server_cpu)
    try:
        wait_until_answering(plain, server)
        text = table(args, (f"ws://127.0.0.1:{plain}", f"wss://127.0.0.1:{tls}"))
    finally:
        server.stop()
    print(text)
    if args.out:
        date, facts = datetime.date.today(), machine(args)
        record.save(args.out, f"# Message delay, {date}\n\n{facts['cpus']} CPUs of {facts['cpu']}, {facts['kernel']}; server on CPU "
                    f"{args.server_cpu}, generator on CPU {args.generator_cpu}; {args.users} users. Commit {git_commit()}. Made by "
                    f"`bench/delay.py`, which says what the columns are.\n\n{text}")


if __name__ == "__main__":
    main()
