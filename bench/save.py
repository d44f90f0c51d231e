#!/usr/bin/env python3
"""What `--save` costs the generator: CPU time a request with and without it, in turns.

    bench/save.py [--rounds 10] [--seconds 5] [--onrush BINARY] [--out NAME]

The target and the generator have one CPU each; the generator runs a small GET with a check on 64 virtual users, in the order A B B A.
The figure is all CPU time of the generator's process, start and end included, by the requests it made. A run that saves writes a
document at the end, which is in the figure too.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile

import record
from process import Program, wait_until_quiet
from serve_small import onrush

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = """
import http from 'k6/http';
import { check } from 'k6';
export const options = { vus: 64, duration: __ENV.SECONDS + 's' };
export default function () { check(http.get(__ENV.URL), { 'status is 200': (r) => r.status === 200 }); }
"""


def measure(args, served, folder, saves):
    """CPU µs a request of one run."""
    script, summary = os.path.join(folder, "script.js"), os.path.join(folder, "summary.json")
    with open(script, "w") as f:
        f.write(SCRIPT)
    command = [args.onrush, "run", "-q", "--workers", "1", "--summary-export", summary, "-e", f"SECONDS={args.seconds}",
               "-e", f"URL=http://127.0.0.1:{served.port}/"]
    command += (["--save", os.path.join(folder, "result")] if saves else []) + [script]
    load = Program(command, args.generator_cpu)
    if not load.wait(args.seconds + 30) or load.exit != 0:
        raise SystemExit(f"the generator ended with {load.exit}: {load.text()}")
    with open(summary) as f:
        requests = json.load(f)["metrics"]["http_reqs"]["count"]
    return (load.rusage.ru_utime + load.rusage.ru_stime) / requests * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--onrush", default=os.path.join(HERE, "..", "target", "release", "onrush"))
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--generator-cpu", default="1")
    parser.add_argument("--quiet", type=float, default=0.15, help="wait until the machine uses fewer CPUs than this")
    parser.add_argument("--patience", type=float, default=30)
    parser.add_argument("--out", help="write results/DATE-MACHINE/NAME.md and .json")
    args = parser.parse_args()
    runs = {False: [], True: []}
    served = onrush(args.onrush, None, args.server_cpu)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for n in range(args.rounds):
                for saves in (False, True) if n % 2 == 0 else (True, False):
                    wait_until_quiet(args.quiet, args.patience)
                    runs[saves].append(measure(args, served, folder, saves))
                    print(f"round {n + 1} {'saved' if saves else 'plain'}: {runs[saves][-1]:.3f} µs", file=sys.stderr)
    finally:
        served.stop()
    ratios = [b / a for a, b in zip(runs[False], runs[True])]
    text = (f"| | CPU µs a request, median | lowest | highest |\n|---|---|---|---|\n"
            + "".join(f"| {name} | {statistics.median(of):.3f} | {min(of):.3f} | {max(of):.3f} |\n"
                      for name, of in (("without", runs[False]), ("with --save", runs[True])))
            + f"\nratio of a round: median {statistics.median(ratios):.4f}, {min(ratios):.4f} to {max(ratios):.4f}")
    print(text)
    if args.out:
        record.save(args.out, f"# What --save costs\n\n{args.rounds} rounds of {args.seconds} s, one CPU each.\n\n{text}\n",
                    {"without": runs[False], "saved": runs[True]})


if __name__ == "__main__":
    main()
