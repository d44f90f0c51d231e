#!/usr/bin/env python3
"""What outputs cost the generator, and what bad receivers do to it.

    bench/outputs.py lines       [--rounds 5] [--seconds 5]    JSON and CSV beside k6, and without output
    bench/outputs.py prometheus  [--rounds 4] [--seconds 8]    remote write of 100,000 samples a second
    bench/outputs.py receivers   [--rounds 3] [--seconds 8]    receivers that are gone, hang, are slow, refuse

Each takes --onrush BINARY, --k6 BINARY and --out NAME (results/DATE-MACHINE/NAME.md). The generator has one CPU and one worker, nginx
and the receiver share the other. Runs take turns; a ratio is that of a round. It ends with 1 when a figure is beyond its limit:
JSON below 5 × k6, Prometheus above 3 % of the generator's CPU, iterations off by more than 1 % or more than 64 MiB of memory
for a bad receiver, a loss that nobody reports.
"""

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
import time

import record
from process import Program, wait_until_quiet
from receivers import MANNERS
from server import Missing, Nginx, _free_ports
from tools import find, version

HERE = os.path.dirname(os.path.abspath(__file__))
CLOSED = """
import http from 'k6/http'
export const options = { vus: 16, duration: __ENV.SECONDS + 's' }
export default function () { http.get(__ENV.URL) }
"""
# One GET an iteration makes 15 samples: 100,000 a second.
OPEN = """
import http from 'k6/http'
export const options = { scenarios: { s: {
  executor: 'constant-arrival-rate', rate: 6667, timeUnit: '1s', duration: __ENV.SECONDS + 's', preAllocatedVUs: 50,
} } }
export default function () { http.get(__ENV.URL) }
"""
LIMITS = {"json": 5.0, "prometheus": 0.03, "iterations": 0.01, "memory": 64 << 20}


class Run:
    """A run that has ended: its CPU seconds, its peak memory, its counts and what it said of losses."""

    def __init__(self, args, tool, script, outputs, env=None):
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            path, summary = os.path.join(folder, "script.js"), os.path.join(folder, "summary.json")
            with open(path, "w") as f:
                f.write(script)
            worker = ["--workers", "1"] if tool == args.onrush else []
            command = [tool, "run", "-q", *worker, "--summary-export", summary, "-e", f"SECONDS={args.seconds}",
                       "-e", f"URL={args.url}"]
            for output in outputs:
                command += ["--out", output.replace("FOLDER", folder)]
            environment = {**os.environ, "K6_NO_USAGE_REPORT": "true", **(env or {})}
            wait_until_quiet(args.quiet, args.patience)
            program = Program([*command, path], args.generator_cpu, environment)
            self.output_share, self.peak = self._watch(program, args.seconds)
            if not program.wait(args.seconds + 60):
                program.stop()
                raise SystemExit(f"{tool} did not end")
            if program.exit != 0:
                raise SystemExit(f"{tool} ended with {program.exit}: {program.text()}")
            self.cpu, self.wall = program.rusage.ru_utime + program.rusage.ru_stime, program.wall
            said = program.text()[1]
            with open(summary) as f:
                metrics = json.load(f)["metrics"]
        self.iterations, self.requests = metrics["iterations"]["count"], metrics["http_reqs"]["count"]
        self.p95 = metrics["http_req_duration"]["p(95)"]
        self.lost = sum(int(n) for n in re.findall(r"output \S+ lost (\d+) ", said))
        self.said = re.findall(r"output \S+ lost .*", said)

    def _watch(self, program, seconds):
        """The share of the threads named out-… in all CPU time, shortly before the end of the test; the peak of memory."""
        program.wait(max(0.5, seconds - 0.5))
        own = total = 0
        tasks = f"/proc/{program.sid}/task"
        for task in os.listdir(tasks) if os.path.isdir(tasks) else []:
            try:
                with open(f"{tasks}/{task}/schedstat") as f:
                    spent = int(f.read().split()[0])
                with open(f"{tasks}/{task}/comm") as f:
                    own += spent if f.read().startswith("out-") else 0
            except OSError:
                continue
            total += spent
        peak = program.usage().peak
        while not program.wait(0.2):
            peak = max(peak, program.usage().peak)
            if time.monotonic() > program.started + seconds + 60:
                break
        return (own / total if total else 0.0), peak


def spread(values, form="{:,.0f}"):
    """Median, lowest and highest."""
    middle, *ends = (form.format(value) for value in (statistics.median(values), min(values), max(values)))
    return f"{middle} ({'-'.join(ends)})"


def in_turns(rounds, cases):
    """Runs of each case, begun by another one in each round."""
    names, runs = list(cases), {name: [] for name in cases}
    for number in range(rounds):
        for name in names[number % len(names):] + names[:number % len(names)]:
            runs[name].append(cases[name]())
            print(f"round {number + 1} {name}: {runs[name][-1].requests:,} requests", file=sys.stderr)
    return runs


def lines(args):
    """JSON and CSV beside k6."""
    cases = {"Onrush without output": lambda: Run(args, args.onrush, CLOSED, [])}
    for kind in ("json", "csv"):
        for name, tool in (("k6", args.k6), ("Onrush", args.onrush)):
            cases[f"{name}, `--out {kind}`"] = lambda tool=tool, kind=kind: Run(args, tool, CLOSED, [f"{kind}=FOLDER/lines"])
    runs = in_turns(args.rounds, cases)
    rate = {name: [run.requests / run.cpu for run in of] for name, of in runs.items()}
    text = ["| | requests per CPU second | ratio | wanted |", "|---|---|---|---|"]
    problems = []
    for kind in ("json", "csv"):
        ours, theirs = rate[f"Onrush, `--out {kind}`"], rate[f"k6, `--out {kind}`"]
        ratio = statistics.median(a / b for a, b in zip(ours, theirs))
        wanted = LIMITS["json"] if kind == "json" else None
        if wanted and ratio < wanted:
            problems.append(f"JSON: {ratio:.2f} × k6, wanted {wanted}")
        text += [f"| k6, `--out {kind}` | {spread(theirs)} | | |",
                 f"| Onrush, `--out {kind}` | {spread(ours)} | {ratio:.1f} × k6 | {wanted or ''} |"]
    text.append(f"| Onrush without output | {spread(rate['Onrush without output'])} | | |")
    lost = sum(run.lost for of in runs.values() for run in of)
    return "\n".join(text) + f"\n\nSamples reported as lost: {lost:,}.", problems


def prometheus(args):
    """Remote write of 100,000 samples a second."""
    port = args.receive("fine")
    env = {"K6_PROMETHEUS_RW_PUSH_INTERVAL": "1s"}
    output = [f"experimental-prometheus-rw=http://127.0.0.1:{port}/api/v1/write"]
    runs = in_turns(args.rounds, {
        "without": lambda: Run(args, args.onrush, OPEN, []),
        "with": lambda: Run(args, args.onrush, OPEN, output, env),
    })
    shares = [run.output_share for run in runs["with"]]
    ratios = [a.cpu / b.cpu for a, b in zip(runs["with"], runs["without"])]
    share = statistics.median(shares)
    samples = statistics.median(run.requests * 15 / args.seconds for run in runs["with"])
    text = ("| | | wanted |\n|---|---|---|\n"
            f"| samples a second | {samples:,.0f} | 100,000 |\n"
            f"| CPU of the output's thread, of the generator's | {spread([s * 100 for s in shares], '{:.2f}')} % | 3 % |\n"
            f"| CPU of the generator, with to without | {spread(ratios, '{:.3f}')} | |")
    problems = [f"Prometheus: {share:.2%} of the CPU"] if share > LIMITS["prometheus"] else []
    return text, problems


def receivers(args):
    """Bad receivers of `--out influxdb`, which sends each sample, and of OTLP over gRPC."""
    addresses = {"gone": _free_ports(1)[0], **{manner: args.receive(manner) for manner in MANNERS}}
    cases = {"no output": lambda: Run(args, args.onrush, OPEN, [])}
    for manner, port in addresses.items():
        cases[f"influxdb: {manner}"] = lambda port=port: Run(args, args.onrush, OPEN, [f"influxdb=http://127.0.0.1:{port}/db"])
    for manner in ("gone", "hangs", "silent"):
        env = {"K6_OTEL_GRPC_EXPORTER_INSECURE": "true", "K6_OTEL_EXPORT_INTERVAL": "1s",
               "K6_OTEL_GRPC_EXPORTER_ENDPOINT": f"127.0.0.1:{addresses[manner]}"}
        cases[f"opentelemetry: {manner}"] = lambda env=env: Run(args, args.onrush, OPEN, ["opentelemetry"], env)
    runs = in_turns(args.rounds, cases)
    plain = runs.pop("no output")
    mib = 1 << 20
    text = ["| output: receiver | iterations, to those without output | p(95), ms | memory beyond that without | "
            "the run took | reported as lost |", "|---|---|---|---|---|---|",
            f"| no output | 1 | {spread([run.p95 for run in plain], '{:.3f}')} | | "
            f"{statistics.median(run.wall for run in plain):.1f} s | |"]
    problems = []
    for name, of in runs.items():
        ratios = [a.iterations / b.iterations for a, b in zip(of, plain)]
        memory = max(a.peak - b.peak for a, b in zip(of, plain))
        text.append(f"| {name} | {spread(ratios, '{:.4f}')} | {spread([run.p95 for run in of], '{:.3f}')} | {memory / mib:.0f} MiB | "
                    f"{statistics.median(run.wall for run in of):.1f} s | {spread([run.lost for run in of])} |")
        if abs(statistics.median(ratios) - 1) > LIMITS["iterations"]:
            problems.append(f"{name}: {statistics.median(ratios):.4f} of the iterations")
        if memory > LIMITS["memory"]:
            problems.append(f"{name}: {memory / mib:.0f} MiB more memory")
        if not name.endswith("fine") and any(not run.said for run in of):
            problems.append(f"{name}: what was lost is not reported")
    text += ["", *(f"- {manner}: {what}" for manner, what in MANNERS.items()), "- gone: nobody listens there"]
    return "\n".join(text), problems


KINDS = {"lines": (lines, 5, 5), "prometheus": (prometheus, 4, 8), "receivers": (receivers, 3, 8)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--onrush", default=os.path.join(HERE, "..", "target", "release", "onrush"))
    parser.add_argument("--k6", default=find("k6"))
    parser.add_argument("--folder", help="where lines are written; by default the machine's for temporary files")
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--generator-cpu", default="1")
    parser.add_argument("--quiet", type=float, default=0.15, help="wait until the machine uses fewer CPUs than this")
    parser.add_argument("--patience", type=float, default=30)
    parser.add_argument("--out", help="write results/DATE-MACHINE/NAME.md")
    args = parser.parse_args()
    work, rounds, seconds = KINDS[args.kind]
    args.rounds, args.seconds = args.rounds or rounds, args.seconds or seconds
    if args.kind == "lines" and not args.k6:
        raise SystemExit("k6 is neither in $PEERS/bin nor on PATH: give --k6 BINARY")
    running = []

    def receive(manner):
        port = _free_ports(1)[0]
        running.append(Program([sys.executable, os.path.join(HERE, "receivers.py"), manner, str(port)], args.server_cpu))
        time.sleep(0.3)
        return port

    args.receive = receive
    try:
        nginx = Nginx(find, args.server_cpu)
    except Missing as missing:
        raise SystemExit(str(missing))
    try:
        args.url = f"http://127.0.0.1:{nginx.http}/"
        text, problems = work(args)
    finally:
        nginx.stop()
        for program in running:
            program.stop()
    print(text)
    print("\n".join(problems), file=sys.stderr)
    if args.out:
        tools = [version(args.onrush, "onrush")] + ([version(args.k6, "k6")] if args.kind == "lines" else [])
        title = f"# Outputs: {args.kind}\n\n{'; '.join(tools)}. {args.rounds} rounds of {args.seconds} s, in turns; median, lowest and highest."
        record.save(args.out, f"{title}\n\n{text}\n", {"problems": problems})
    raise SystemExit(1 if problems else 0)


if __name__ == "__main__":
    main()
