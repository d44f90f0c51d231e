#!/usr/bin/env python3
"""Links (the option `network`) against what they promise: rates, added delay, and many users at once.

    bench/links.py [--seconds 5] [--onrush BINARY] [--out NAME]

Server (`onrush serve`) and generator on a CPU each. Rates, up and down: a transfer that takes so many seconds, its bytes over the
time it took. Delay: 300 requests with the link, their time to the first byte less the median of 300 without a link, so that what
the machine takes anyhow is not counted as the link's. Many: 1,000 users at once, each with a link of 64 kbit/s; the slowest against the
fastest.
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
from serve_small import wait_until_answering
from server import _free_ports

HERE = os.path.dirname(os.path.abspath(__file__))
RATES = [("64kbps", 64e3), ("1mbps", 1e6), ("10mbps", 10e6), ("100mbps", 100e6)]
LATENCIES_MS = [1, 10, 100, 500]
# What is held: rates within 1 %, delays 0 to 1 ms too long, users within 1 % of each other.
RATE_AIM, DELAY_AIM_MS, SPREAD_AIM = 0.01, 1.0, 0.01


def cell(args, url, **env):
    """The Trends of one run, by name."""
    wait_until_quiet(args.quiet, args.patience)
    with tempfile.TemporaryDirectory(prefix="onrush-bench-") as scratch:
        summary = f"{scratch}/summary.json"
        env = {"TARGET": url, "VUS": 1, "ITERATIONS": 1, "SUMMARY": summary, **env}
        command = [args.onrush, "run", "-q", "--workers", "1", *(p for k, v in env.items() for p in ("-e", f"{k}={v}")),
                   f"{HERE}/scripts/links.js"]
        program = Program(command, args.generator_cpu)
        try:
            if not program.wait(150) or program.exit != 0:
                sys.exit(f"{' '.join(command)} failed: {program.text()}")
        finally:
            program.stop()
        with open(summary) as f:
            return json.load(f)


def first_piece(rate):
    return min(max(int(rate / 8 / 1000), 1460), 64 << 10)


def rates(args, url):
    lines = ["| rate | direction | measured | off by | |", "|---|---|--:|--:|---|"]
    for text, bits in RATES:
        size = int(bits / 8 * args.seconds)
        for what in ("down", "up"):
            env = {"WHAT": what, "BYTES": size, "LATENCY": 0, "FIRST": first_piece(bits)}
            got = cell(args, url, NETWORK=f"download={text},upload={text}", **env)["rate"]["med"] * 1e6
            off = got / bits - 1
            verdict = "reached" if abs(off) <= RATE_AIM else "**not reached**"
            lines.append(f"| {text} | {what} | {got / 1e6:,.4f} Mbit/s | {off:+.2%} | {verdict} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return lines


def delays(args, url):
    lines = ["| latency | added: least | median | p99 | |", "|---|--:|--:|--:|---|"]
    plain = cell(args, url, WHAT="delay", ITERATIONS=300)["waited"]["med"]
    for latency in LATENCIES_MS:
        count = 300 if latency <= 100 else 60
        waited = cell(args, url, WHAT="delay", ITERATIONS=count, NETWORK=f"latency={latency}ms")["waited"]
        least, middle, most = (waited[stat] - latency for stat in ("min", "med", "p(99)"))
        reached = least >= 0 and most - plain <= DELAY_AIM_MS
        lines.append(f"| {latency} ms | {least:+.3f} ms | {middle - plain:+.3f} ms | {most - plain:+.3f} ms | "
                     f"{'reached' if reached else '**not reached**'} |")
        print(lines[-1], file=sys.stderr, flush=True)
    lines.append(f"\nWithout a link a request took {plain:.3f} ms (median), which is taken off median and p99, not off the least.")
    return lines


def many(args, url):
    size = int(64e3 / 8 * args.seconds)
    got = cell(args, url, WHAT="down", VUS=1000, BYTES=size, FIRST=1460, NETWORK="download=64kbps,upload=64kbps")["rate"]
    spread = got["max"] / got["min"] - 1
    verdict = "reached" if spread <= SPREAD_AIM else "**not reached**"
    return ["| users | slowest | median | fastest | apart | |", "|---|--:|--:|--:|--:|---|",
            f"| {got['count']:.0f} | {got['min'] * 1e3:.2f} kbit/s | {got['med'] * 1e3:.2f} | {got['max'] * 1e3:.2f} | {spread:.2%} | {verdict} |"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--onrush", default=os.path.join(HERE, "..", "target", "release", "onrush"))
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--generator-cpu", default="1")
    parser.add_argument("--quiet", type=float, default=0.15, help="wait until the machine uses fewer CPUs than this")
    parser.add_argument("--patience", type=float, default=30)
    parser.add_argument("--out", help="write results/DATE-MACHINE/NAME.md")
    args = parser.parse_args()
    port = _free_ports(1)[0]
    server = Program([args.onrush, "serve", "--listen", f"tcp://127.0.0.1:{port}"], args.server_cpu)
    try:
        wait_until_answering(port, server)
        url = f"http://127.0.0.1:{port}"
        parts = [rates(args, url), delays(args, url), many(args, url)]
    finally:
        server.stop()
    text = "\n\n".join("\n".join(part) for part in parts) + "\n"
    print(text)
    if args.out:
        date, facts = datetime.date.today(), machine(args)
        record.save(args.out, f"# Links, {date}\n\n{facts['cpus']} CPUs of {facts['cpu']}, {facts['kernel']}; server on CPU "
                    f"{args.server_cpu}, generator on CPU {args.generator_cpu}; transfers of {args.seconds:g} s. Commit {git_commit()}. Made by `bench/links.py`."
                    f"\n\n{text}")


if __name__ == "__main__":
    main()
