#!/usr/bin/env python3
"""Does `onrush compare` tell the truth? Comparisons of runs whose difference is known.

    bench/compare.py aa [--comparisons 100] [--pairs 8] [--seconds 1]     nothing differs: at most 5 in 100 may be called different
    bench/compare.py ab [--comparisons 10] [--pairs 10] [--seconds 1]     B is 5 % slower: at least 9 in 10 must be found
    bench/compare.py aa ab --out compare                                  both, written to results/DATE-MACHINE/compare.md and .json

The target, on one CPU, is an app that computes for a known time for each request (bench/apps/spin.js); the generator, on the other,
keeps it busy with 8 users and is itself nearly idle, so that the target is the limit. How B is slowed: it computes for longer, by 5 %
of all the time a request takes, the server's own part included, which is measured beforehand. Whether that came out as 5 % is told by
the app's own clock and by the server's CPU time a request over all runs. It is known to some hundredths of a point: an interval that
misses the truth by less than TOLERANCE covers it. On a machine that does other work most runs are no evidence, and nothing is found.

Within a comparison the variants run A B B A ..., who begins is drawn from --seed. Every comparison is made by the binary under test,
with its defaults, and once more with a margin of 0, where nothing is too small to be called different.
"""

import argparse
import datetime
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.request

import record
from process import Program, wait_until_quiet
from serve_small import onrush
from run import machine

HERE = os.path.dirname(os.path.abspath(__file__))
SPIN_US = 400
SLOWER = 1.05
TOLERANCE = 0.0005


class Broken(Exception):
    """A comparison that came to nothing."""


class Lab:
    """The target and how to run a load against it."""

    def __init__(self, args):
        self.args = args
        self.server = onrush(args.onrush, f"{HERE}/apps/spin.js", args.server_cpu, ["--workers", "1"])
        self.scratch = tempfile.mkdtemp(prefix="onrush-compare-")

    def stop(self):
        self.server.stop()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def clock(self):
        """{spin in µs as asked for: number and ms of spins, and of those that somebody cut into}, as the app saw it."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.server.port}/clock", timeout=10) as answer:
            return json.load(answer)

    def spun(self, us, before):
        """Mean µs of the spins since `before`, and the share of those that were late."""
        now, old = self.clock()[f"{us:g}"], before.get(f"{us:g}", {"spins": 0, "ms": 0, "late": 0})
        since = {key: now[key] - old[key] for key in now}
        return since["ms"] / since["spins"] * 1e3, since["late"] / (since["spins"] + since["late"])

    def run(self, us, folder, *labels):
        """One run; server CPU seconds and requests that it cost."""
        command = [self.args.onrush, "run", "-q", "--workers", "1", "--summary-mode", "disabled", "--save", folder,
                   "-e", f"US={us:g}", "-e", f"DURATION={self.args.seconds:g}s",
                   "-e", f"SERVER=http://127.0.0.1:{self.server.port}"]
        for label in labels:
            command += ["--label", label]
        before = self.server.program.usage().cpu
        program = Program(command + [f"{HERE}/scripts/spin.js"], self.args.generator_cpu)
        if not program.wait(self.args.seconds + 30) or program.exit != 0:
            program.stop()
            raise Broken(f"a run failed: {program.text()[1][-800:]}")
        cpu = self.server.program.usage().cpu - before
        with open(f"{folder}/result.json") as f:
            metrics = json.load(f)["metrics"]
        return {"cpu_s": cpu, "requests": next(m["value"]["count"] for m in metrics if m["name"] == "http_reqs")}


def own_part(lab):
    """µs of the server's CPU time that a request takes besides the spinning."""
    costs = []
    for n in range(5):
        before = lab.clock()
        used = lab.run(SPIN_US, f"{lab.scratch}/calibration{n}")
        costs.append(used["cpu_s"] / used["requests"] * 1e6 - lab.spun(SPIN_US, before)[0])
    return statistics.median(costs)


def compare(lab, folder, *flags):
    command = [lab.args.onrush, "compare", f"{folder}:variant=a", f"{folder}:variant=b", "--format", "json", *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode > 2:
        raise Broken(f"compare failed: {done.stderr}")
    # Folders of this run mean nothing to whoever reads the figures.
    return done.returncode, json.loads(done.stdout.replace(f"{lab.scratch}/", ""))


def verdicts(answer):
    return {metric["metric"]: metric["verdict"] for metric in answer["metrics"] if metric["verdict"]}


def comparison(lab, number, draw, pairs, us):
    """Runs both variants by turns and compares them."""
    folder = f"{lab.scratch}/{number}"
    os.mkdir(folder)
    used = {"a": [], "b": []}
    first = draw.choice("ab")
    for round_ in range(pairs):
        order = "ab" if (round_ % 2 == 0) == (first == "a") else "ba"
        for variant in order:
            labels = (f"variant={variant}", f"round={round_ + 1}")
            used[variant].append(lab.run(us[variant], f"{folder}/{round_}{variant}", *labels))
    code, answer = compare(lab, folder)
    strict = verdicts(compare(lab, folder, "--margin", "0")[1])
    shutil.rmtree(folder)
    cost = {v: sum(u["cpu_s"] for u in used[v]) / sum(u["requests"] for u in used[v]) for v in used}
    kept = ("metric", "verdict", "change", "interval", "p", "p_holm", "values")
    return {"first": first, "exit": code, "headline": answer["headline"], "pairs": answer["pairs"],
            "left_out": answer["left_out"], "warnings": answer["warnings"], "verdicts": verdicts(answer), "strict": strict,
            "server_cpu_ratio": cost["b"] / cost["a"],
            "metrics": [{k: m[k] for k in kept} for m in answer["metrics"] if m["verdict"]]}


def different(found):
    return any(verdict in ("better", "worse", "different") for verdict in found.values())


def metric(found, name):
    return next((m for m in found["metrics"] if m["metric"] == name), None)


def series(lab, kind, args, draw):
    """All comparisons of one kind, and what they come to."""
    own = own_part(lab)
    us = {"a": SPIN_US, "b": SPIN_US if kind == "aa" else SPIN_US + (SLOWER - 1) * (SPIN_US + own)}
    count, pairs = args.comparisons or {"aa": 100, "ab": 10}[kind], args.pairs or {"aa": 8, "ab": 10}[kind]
    before, comparisons, broken = lab.clock(), [], []
    for number in range(count):
        try:
            found = comparison(lab, f"{kind}{number}", draw, pairs, us)
        except Broken as why:
            broken.append(str(why))
            print(f"{kind} {number + 1}/{count}: {why}", file=sys.stderr, flush=True)
            if len(broken) > 5:
                raise
            continue
        comparisons.append(found)
        print(f"{kind} {number + 1}/{count}: {found['headline']} ({found['pairs']} pairs)", file=sys.stderr, flush=True)
    spun = {variant: lab.spun(length, before) for variant, length in us.items()}
    return {"kind": kind, "pairs": pairs, "seconds": args.seconds, "own_us": own, "asked_us": us,
            "spun_us": {v: mean for v, (mean, _) in spun.items()}, "late": {v: late for v, (_, late) in spun.items()},
            "comparisons": comparisons, "broken": broken}


def lines_of(result):
    """What a series came to, as lines of Markdown."""
    of, kind = result["comparisons"], result["kind"]
    called = sum(different(c["verdicts"]) for c in of)
    strict = sum(different(c["strict"]) for c in of)
    whole = sum(c["pairs"] == result["pairs"] for c in of)
    own, spun = result["own_us"], result["spun_us"]
    by_clock = (own + spun["b"]) / (own + spun["a"])
    by_cpu = statistics.median(c["server_cpu_ratio"] for c in of)
    lines = [f"## {'Nothing differs' if kind == 'aa' else 'B takes 5 % longer'}", "",
             f"{len(of)} comparisons of {result['pairs']} pairs, runs of {result['seconds']:g} s; in {whole} every pair was evidence. "
             f"A request of B took {by_clock:.4f} × A's by the app's clock ({spun['a']:.1f} and {spun['b']:.1f} µs of computing, "
             f"{own:.1f} µs of everything else; {max(result['late'].values()) * 100:.1f} % of the spins were cut into and are left out) "
             f"and {by_cpu:.4f} × by the server's CPU time.", "",
             "| | found | wanted | |", "|---|--:|---|---|"]
    if kind == "aa":
        allowed = int(0.05 * len(of))
        lines += [f"| called different | {called} of {len(of)} | ≤ {allowed} | {'reached' if called <= allowed else 'missed'} |",
                  f"| called different with a margin of 0 | {strict} of {len(of)} | | |",
                  f"| called the same | {sum(set(c['verdicts'].values()) == {'same'} for c in of)} of {len(of)} | | |"]
    else:
        worse = sum(c["exit"] == 1 for c in of)
        needed = -(-9 * len(of) // 10)
        lines.append(f"| called worse | {worse} of {len(of)} | ≥ {needed} | {'reached' if worse >= needed else 'missed'} |")
        # Of requests/s alone the truth is known: a median leaves out what only some requests cost, and knows nothing of pauses.
        truth = 1 / by_clock - 1
        intervals = [m["interval"] for c in of if (m := metric(c, "http_reqs /s")) and m["interval"]]
        covered = sum(low - TOLERANCE <= truth <= high + TOLERANCE for low, high in intervals)
        wide = statistics.median(high - low for low, high in intervals) * 100 if intervals else float("nan")
        lines.append(f"| interval of http_reqs /s covers {truth * 100:+.2f} % | {covered} of {len(of)}, {wide:.2f} points wide "
                     f"| ≥ {needed} | {'reached' if covered >= needed else 'missed'} |")
    if result["broken"]:
        lines += ["", f"{len(result['broken'])} comparisons came to nothing: {result['broken'][0]}"]
    refused = sum(len(c["left_out"]) for c in of)
    if refused:
        lines += ["", f"{refused} runs were no evidence: {of_reasons(of)}."]
    return lines + [""]


def of_reasons(comparisons):
    reasons = {run["why"].split(":")[0] for c in comparisons for run in c["left_out"]}
    return "; ".join(sorted(reasons))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="+", choices=["aa", "ab"])
    parser.add_argument("--comparisons", type=int, help="default: 100 and 10")
    parser.add_argument("--pairs", type=int, help="default: 8 and 10")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a run, at least 1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--onrush", default=os.path.join(HERE, "..", "target", "release", "onrush"))
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--generator-cpu", default="1")
    parser.add_argument("--quiet", type=float, default=0.15, help="before it begins wait until the machine uses fewer CPUs than this")
    parser.add_argument("--patience", type=float, default=60)
    parser.add_argument("--out", help="write results/DATE-MACHINE/NAME.md and .json")
    args = parser.parse_args()
    draw = random.Random(args.seed)
    busy = wait_until_quiet(args.quiet, args.patience)
    facts = machine(args)
    lab = Lab(args)
    try:
        results = [series(lab, kind, args, draw) for kind in args.kinds]
    finally:
        lab.stop()
    text = "\n".join(line for result in results for line in lines_of(result))
    print(text)
    if args.out:
        head = (f"# Comparisons with a known truth, {datetime.date.today()}\n\n{facts['cpus']} CPUs of {facts['cpu']}, {facts['kernel']}; "
                f"server on CPU {args.server_cpu}, generator on CPU {args.generator_cpu}; {busy:.2f} CPUs busy with other things "
                f"before. Seed {args.seed}. Made by `bench/compare.py`.\n\n")
        record.save(args.out, head + text, {"machine": facts, "seed": args.seed, "busy_before": busy, "series": results})


if __name__ == "__main__":
    main()
