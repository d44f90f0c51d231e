#!/usr/bin/env python3
"""Open streams of events: what a user of one takes in memory, and how late events are that the server sends one a second.

    bench/events.py [--users 10000] [--ramp 20] [--events 50] [--onrush BINARY] [--out NAME]

Users begin their streams one after the other over --ramp seconds, so the events of all are spread over the second. The server is `onrush serve`,
on a CPU of its own; each event has its stamp of sending. `error` is how far an event's distance from the first one of its stream is from the planned
one: by the kernel's stamps of arrival, and by the server's own stamps, which is the server's part of it. `delay` is from the stamp of sending to that
of arrival; it may be some hundredths of a millisecond below zero, because the script takes the time before the request's own clock begins. `handling`
is from the arrival until the script has the event. Memory: the peak of so many users less that of a tenth, by user.
"""

import argparse
import json
import os
import sys
import tempfile

import record
from process import Program, wait_until_quiet
from serve_small import wait_until_answering
from server import _free_ports

HERE = os.path.dirname(os.path.abspath(__file__))
MEMORY_AIM_KB, DELAY_AIM_MS = 150, 1.0


def play(args, users):
    """The Trends of one run, and what it took."""
    wait_until_quiet(args.quiet, args.patience)
    (port,) = _free_ports(1)
    serve = Program([args.onrush, "serve", "--listen", f"tcp://127.0.0.1:{port}"], args.server_cpu)
    ramp = max(1, args.ramp * users // args.users)
    # Those who begin first still listen when the last ones have begun.
    events = ramp + args.events
    try:
        wait_until_answering(port, serve)
        with tempfile.TemporaryDirectory(prefix="onrush-bench-") as scratch:
            env = {"URL": f"http://127.0.0.1:{port}", "USERS": users, "RAMP": ramp, "EVENTS": events, "SUMMARY": f"{scratch}/summary.json"}
            command = [args.onrush, "run", "-q", "--workers", "1", *(p for k, v in env.items() for p in ("-e", f"{k}={v}")),
                       f"{HERE}/scripts/events.js"]
            program = Program(command, args.generator_cpu)
            try:
                if not program.wait(ramp + events + 120) or program.exit != 0:
                    sys.exit(f"{' '.join(command)} failed: {program.text()}")
            finally:
                program.stop()
            with open(env["SUMMARY"]) as f:
                got = json.load(f)
        server_cpu = serve.usage().cpu
    finally:
        serve.stop()
    return {"users": users, "peak_kb": program.rusage.ru_maxrss, "generator_cores": (program.rusage.ru_utime + program.rusage.ru_stime) / program.wall,
            "server_cores": server_cpu / program.wall, "events": got["event_delay"]["count"], "error": got["event_error"],
            "server": got["event_error_of_server"], "delay": got["event_delay"], "handling": got["event_handling"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--ramp", type=int, default=20, metavar="SECONDS")
    parser.add_argument("--events", type=int, default=30, help="for whom begins last")
    parser.add_argument("--onrush", default=f"{HERE}/../target/release/onrush")
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--generator-cpu", default="1")
    parser.add_argument("--quiet", type=float, default=0.1)
    parser.add_argument("--patience", type=float, default=60)
    parser.add_argument("--out", metavar="NAME", help="write results/DATE-MACHINE/NAME.md and .json")
    args = parser.parse_args()
    runs = [play(args, users) for users in (args.users // 10, args.users)]
    lines = ["| users | events | generator cores | server cores | | median | p99 | p99.9 | most |", "|--:|--:|--:|--:|---|--:|--:|--:|--:|"]
    names = {"error": "error by arrival", "server": "error by the server's stamps", "delay": "delay", "handling": "handling"}
    for run in runs:
        about = f"{run['users']:,} | {run['events']:,} | {run['generator_cores']:.2f} | {run['server_cores']:.2f}"
        for key, name in names.items():
            figures = " | ".join(f"{run[key][which]:.2f} ms" for which in ("med", "p(99)", "p(99.9)", "max"))
            lines.append(f"| {about} | {name} | {figures} |")
            about = "| | | "
    each = (runs[1]["peak_kb"] - runs[0]["peak_kb"]) * 1024 / 1000 / (runs[1]["users"] - runs[0]["users"])
    p99 = runs[1]["error"]["p(99)"]
    lines += ["", f"- a user more: {each:.0f} kB, aim {MEMORY_AIM_KB}: {'reached' if each <= MEMORY_AIM_KB else '**not reached**'}",
              f"- error p99: {p99:.2f} ms, aim {DELAY_AIM_MS}: {'reached' if p99 <= DELAY_AIM_MS else '**not reached**'}"]
    print("\n".join(lines))
    if args.out:
        record.save(args.out, "\n".join(["# Open streams of events", "", *lines, ""]), runs)


if __name__ == "__main__":
    main()
