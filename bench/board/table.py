#!/usr/bin/env python3
"""The board as Markdown, from the result of `onrush matrix bench/board/board.toml`: a row for each profile and server.

Rate and percentiles are medians of the rounds. `done` is the share of planned iterations that ended. Verdict and limit are those of
the worst and of the most frequent round: a rate whose generator was the limit is at least that of the server.
"""
import collections
import json
import statistics
import sys

WORST = ["TRUSTED", "NOT JUDGED", "SUSPECT", "INVALID"]


def metric(result, name):
    return next((m for m in result["metrics"] if m["name"] == name and not m.get("filter")), None)


def row(profile, variant, runs):
    valid = [run for run in runs if run.get("result") and run["outcome"] == "ok"]
    if not valid:
        return [profile, variant] + ["–"] * 5 + ["failed", "–"]
    median = lambda values: statistics.median(values) if values else float("nan")
    rates, p50, p99, shares, verdicts, limits = [], [], [], [], [], []
    for run in valid:
        result = run["result"]
        operations, times = metric(result, "operations"), metric(result, "operation_duration")
        rates.append(operations["value"]["count"] / run["measured_s"])
        values = {p["percent"]: p["value"] for p in times.get("percentiles", [])} if times else {}
        p50.append(values.get(50, values.get(50.0)))
        p99.append(values.get(99, values.get(99.0)))
        judgement = result["generator"].get("judgement") or {}
        iterations = judgement.get("iterations") or {}
        if iterations.get("planned"):
            shares.append(iterations["ended"] / iterations["planned"])
        verdicts.append(judgement.get("verdict", "NOT JUDGED"))
        limit = judgement.get("limit")
        limits.append(limit["name"].replace("_", " ") if limit else "–")

    def ms(values):
        values = [value for value in values if value is not None]
        if not values:
            return "–"
        # A script that asks the clock itself sees whole milliseconds.
        return f"{median(values):.2f} ms" if median(values) > 0 else "< 1 ms"

    verdict = max(verdicts, key=lambda v: WORST.index(v) if v in WORST else len(WORST))
    limit = collections.Counter(limits).most_common(1)[0][0]
    sign = "≥ " if limit == "generator" or verdict == "INVALID" else ""
    done = f"{100 * min(shares):.1f} %" if shares else "–"
    return [profile, variant, f"{sign}{median(rates):,.0f}/s", ms(p50), ms(p99), done, str(len(valid)), verdict, limit]


def main():
    document = json.load(open(sys.argv[1]))
    runs = collections.OrderedDict()
    for run in document["runs"]:
        runs.setdefault((run["axes"]["profile"], run["variant"]), []).append(run)
    heads = ["profile", "server", "rate", "p50", "p99", "planned that ended", "rounds", "verdict", "limit"]
    print("| " + " | ".join(heads) + " |\n|---|---|--:|--:|--:|--:|--:|---|---|")
    order = document["plan"]["axes"]["profile"] if "plan" in document else []
    place = lambda key: (order.index(key[0]) if key[0] in order else len(order), key[1] != "onrush serve")
    for (profile, variant), of in sorted(runs.items(), key=lambda item: place(item[0])):
        print("| " + " | ".join(row(profile, variant, of)) + " |")


main()
