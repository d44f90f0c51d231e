"""Results as Markdown: medians over the rounds, and ratios paired within each round.

A ratio is the median of figure(tool) / figure(reference) of the same round, so that a machine that slows down in between
moves both.
"""

import statistics

FIGURES = {
    "requests": "requests per generator CPU s",
    "rate": "requests/s",
    "memory": "resident MiB (less is better)",
    "iterations": "iterations per generator CPU s",
    "startup": "CPU ms, start to exit (less is better)",
}

# Heading, where the value is in a run, digits; a column that no run has is left out.
COLUMNS = [
    ("rate/s", lambda r: r.get("rate") if r.get("rate") != r.get("figure") else None, 0),
    ("tool ÷ server count", lambda r: _ratio(r.get("said", {}).get("requests"), r.get("served")), 4),
    ("generator cores", lambda r: r.get("generator_cores"), 2),
    ("server cores", lambda r: r.get("server_cores"), 2),
    ("peak RSS MiB", lambda r: r.get("peak_rss_mib"), 1),
    ("wall ms", lambda r: r["wall_s"] * 1e3 if "figure" in r and "window_s" not in r else None, 1),
    ("connections", lambda r: r.get("connections"), 0),
    ("p50 ms", lambda r: r.get("said", {}).get("p50_ms"), 2),
    ("p99 ms", lambda r: r.get("said", {}).get("p99_ms"), 2),
    ("lag p50 ms", lambda r: r.get("said", {}).get("lag_p50_ms"), 3),
    ("lag p99 ms", lambda r: r.get("said", {}).get("lag_p99_ms"), 3),
    ("dropped", lambda r: r.get("said", {}).get("dropped"), 0),
    ("errors", lambda r: r.get("said", {}).get("errors"), 0),
    ("other cores", lambda r: r.get("other_cores"), 2),
]


def _ratio(a, b):
    return a / b if a and b else None


def number(value, digits=None):
    """With thousands separated; digits by size when not given."""
    if value is None:
        return "–"
    if digits is None:
        digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def paired(runs, tool, reference):
    """The median over the rounds of tool's figure to the reference's."""
    figures = {(r["tool"], r["round"]): r["figure"] for r in runs if r.get("figure")}
    ratios = [figures[tool, n] / figures[reference, n]
              for n in {r["round"] for r in runs} if (tool, n) in figures and (reference, n) in figures]
    return median(ratios)


def table(workload):
    """One workload as a heading, its note and a table."""
    runs, tools = workload["runs"], workload["tools"]
    references = [t for t in workload.get("references", ("wrk", "k6")) if t in tools] or tools[:1]
    columns = [c for c in COLUMNS if any(c[1](r) is not None for r in runs)]
    heads = ["tool", FIGURES[workload["kind"]], "lowest–highest", *(f"× {t}" for t in references), *(c[0] for c in columns)]
    lines = [f"### {workload['name']}: {workload['title']}", ""]
    lines += [workload["note"], ""] if workload["note"] else []
    lines += ["| " + " | ".join(heads) + " |", "|---" + "|--:" * (len(heads) - 1) + "|"]
    problems = []
    for tool in tools:
        own = [r for r in runs if r["tool"] == tool]
        figures = [r["figure"] for r in own if r.get("figure") is not None]
        spread = f"{number(min(figures))}–{number(max(figures))}" if figures else "–"
        cells = [tool, f"**{number(median(figures))}**", spread]
        cells += [number(paired(runs, tool, t), 3) for t in references]
        cells += [number(median(c[1](r) for r in own), c[2]) for c in columns]
        lines.append("| " + " | ".join(cells) + " |")
        problems += [f"- {tool}, round {r['round'] + 1}: {r['problem'].strip()}" for r in own if "problem" in r]
    aims = [_aim(runs, *aim) for aim in workload.get("aims", [])]
    aims = [aim for aim in aims if aim]
    return "\n".join(lines + [""] * bool(problems) + problems + [""] * bool(aims) + aims) + "\n"


def _aim(runs, tool, reference, factor):
    """What a tool should reach, and whether it does; nothing when one of the two did not run."""
    reached = paired(runs, tool, reference)
    if reached is None:
        return None
    verdict = "reached" if reached >= factor else "**missed**"
    return f"- {tool} ÷ {reference}: {number(reached, 2)}, aim {factor}: {verdict}"


def further_users(workloads):
    """What each further VU takes: the slope between the memory workloads, when both were run."""
    few, many = (next((w for w in workloads if w["name"] == name), None) for name in ("vus-1k", "vus-10k"))
    if not few or not many:
        return ""
    lines = ["### Each further VU", "", "Resident memory of 10,000 VUs less that of 1,000, over 9,000.", "",
             "| tool | kB | KiB |", "|---|--:|--:|"]
    for tool in few["tools"]:
        a, b = (median(r.get("figure") for r in w["runs"] if r["tool"] == tool) for w in (few, many))
        if a and b:
            lines.append(f"| {tool} | **{(b - a) * 2**20 / 9e6:.1f}** | {(b - a) * 1024 / 9000:.1f} |")
    return "\n".join(lines) + "\n"


def document(result):
    """A whole result file."""
    machine = result["machine"]
    rounds = f"{result['rounds']} rounds, tools interleaved, their order rotated each round"
    lines = [
        f"# {result['name']}, {result['date'][:10]}", "",
        f"{machine['cpus']} CPUs of {machine['cpu']}, {machine['memory']}, {machine['kernel']}. Server on CPU "
        f"{machine['server_cpu']}, generator on CPU {machine['generator_cpu']}; {rounds}. Commit {result['commit']}. "
        "How to read it: ../../README.md.", "",
        *(f"- {name}: {text}" for name, text in result["versions"].items()), "",
    ]
    return "\n".join(lines) + "\n" + "\n".join([*(table(w) for w in result["workloads"]), further_users(result["workloads"])]).rstrip() + "\n"
