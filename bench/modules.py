#!/usr/bin/env python3
"""What calls of modules cost beside k6: cryptography of a mebibyte, HTML of a page of 200 KB.

    bench/modules.py [--rounds 5] [--onrush BINARY] [--out NAME]

The script makes so many calls in one iteration; a second run with one call is taken off, so that the start is not counted. CPU time of the
whole process, user and system, on one CPU; the tools take turns. Nothing is sent.
"""

import argparse
import datetime
import os
import statistics
import sys

import record
from process import Program, wait_until_quiet
from run import git_commit, machine
from tools import find, version

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = [("k6/crypto sha256", 400), ("subtle.digest SHA-256", 400), ("subtle.digest SHA-512", 200), ("subtle.encrypt AES-GCM", 200),
         ("parseHTML", 100), ("find and each", 400), ("parseHTML, find and each", 100)]


def cpu(command, what, count, cpus):
    """CPU seconds of a run."""
    program = Program([*command, "-e", f"WHAT={what}", "-e", f"COUNT={count}", f"{HERE}/scripts/modules.js"], cpus,
                      {**os.environ, "GOMAXPROCS": "1"})
    try:
        if not program.wait(120) or program.exit != 0:
            sys.exit(f"{' '.join(command)} {what} failed: {program.text()}")
    finally:
        program.stop()
    return program.rusage.ru_utime + program.rusage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--onrush", default=os.path.join(HERE, "..", "target", "release", "onrush"))
    parser.add_argument("--generator-cpu", default="1")
    parser.add_argument("--quiet", type=float, default=0.15, help="wait until the machine uses fewer CPUs than this")
    parser.add_argument("--patience", type=float, default=30)
    parser.add_argument("--out", help="write results/DATE-MACHINE/NAME.md")
    parser.set_defaults(server_cpu="none")
    args = parser.parse_args()
    k6 = find("k6") or sys.exit("k6 was not found in $PEERS/bin or PATH")
    tools = {"onrush": [args.onrush, "run", "-q", "--workers", "1"], "k6": [k6, "run", "-q", "--no-usage-report"]}
    lines = ["| call | onrush | k6 | k6 ÷ onrush | lowest and highest |", "|---|--:|--:|--:|--:|"]
    for what, count in CALLS:
        costs = {name: [] for name in tools}
        for turn in range(args.rounds):
            wait_until_quiet(args.quiet, args.patience)
            for name in sorted(tools, reverse=turn % 2 == 1):
                whole, start = (cpu(tools[name], what, calls, args.generator_cpu) for calls in (count, 1))
                costs[name].append((whole - start) / (count - 1) * 1e3)
        ratios = [other / ours for ours, other in zip(costs["onrush"], costs["k6"])]
        ours, other = (statistics.median(costs[name]) for name in ("onrush", "k6"))
        lines.append(f"| {what} | {ours:.3f} ms | {other:.3f} ms | {statistics.median(ratios):.2f} | {min(ratios):.2f}-{max(ratios):.2f} |")
        print(lines[-1], file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    print(text)
    if args.out:
        date, facts = datetime.date.today(), machine(args)
        record.save(args.out, f"# Modules, {date}\n\n{facts['cpus']} CPUs of {facts['cpu']}, {facts['kernel']}. {version(k6, 'k6')}. Commit {git_commit()}. "
                    f"Made by `bench/modules.py`: CPU time of a call, medians of {args.rounds} rounds.\n\n{text}")


if __name__ == "__main__":
    main()
