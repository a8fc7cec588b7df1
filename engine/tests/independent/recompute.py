"""Recomputes the headline figures of `goodput simulate` from its --requests table.

Shares nothing with the engine: another language, the definitions only, exact integers and
fractions. For each NAME in the folder it reads NAME.scenario.json, NAME.requests.csv and
NAME.report.json, and says where they disagree. Exit code 1 if anything does.

Usage: recompute.py FOLDER
"""

import csv
import json
import math
import pathlib
import sys
from fractions import Fraction

PICOS = 10**12
LIMITS = ["ttft", "ttfvt", "tpot", "stall", "itl", "e2e"]
# What other tools do not know.
OURS_ALONE = ("ttfvt", "stall", "itl")
LATE = {
    "late_first_token",
    "late_and_slow",
    "stalled",
    "slow_tokens",
    "late_completion",
}


def picos(seconds):
    """A moment, printed with 12 decimals, as an integer; None of an empty cell."""
    if seconds == "":
        return None
    whole, decimals = seconds.split(".")
    assert len(decimals) == 12, seconds
    return int(whole + decimals)


def limit_picos(limit_ms):
    return None if limit_ms is None else round(Fraction(limit_ms) * 10**9)


class Request:
    def __init__(self, row, slo):
        self.row, self.outcome = row, row["outcome"]
        self.due, self.first = picos(row["due_s"]), picos(row["first_token_s"])
        self.completed = picos(row["completed_s"])
        self.input, self.output = int(row["input_tokens"]), int(row["output_tokens"])
        self.answered = self.completed is not None
        self.ttft = None if self.first is None else self.first - self.due
        self.e2e = None if not self.answered else self.completed - self.due
        self.tpot = None
        if self.answered and self.output > 1:
            self.tpot = Fraction(self.completed - self.first, self.output - 1)
        stall = row["longest_stall_ms"]
        self.stall = None if stall == "" else round(Fraction(stall) * 10**9)
        shown = row["ttfvt_ms"]
        self.ttfvt = None if shown == "" else round(Fraction(shown) * 10**9)
        # The share of its own gaps that is above the limit, against the share that may be.
        itl = slo.get("itl_percentile")
        self.itl = None
        if itl and self.output > 1:
            self.itl = int(row["gaps_above_itl_limit"])
            gaps = self.output - 1
            may_be_above = gaps - math.ceil(Fraction(itl["percentile"]) / 100 * gaps)
        self.limits = {
            "itl": may_be_above if self.itl is not None else None,
            "ttfvt": limit_picos(slo.get("ttfvt_ms")),
            "ttft": limit_picos(slo.get("ttft_ms")),
            "tpot": limit_picos(slo.get("tpot_ms")),
            "stall": limit_picos(slo.get("longest_stall_ms")),
            "e2e": limit_picos(slo.get("e2e_ms")),
        }

    def missed(self, without=(), replaced=None):
        """Limits an answered request missed; some may be lifted, or one replaced by another."""
        missed = set()
        for name in LIMITS:
            limit = self.limits[name]
            if replaced and replaced[0] == name:
                limit = replaced[1]
            if name in without or limit is None:
                continue
            value = getattr(self, name)
            if value is None and name in ("tpot", "stall"):
                continue  # one token has neither
            if value is None or value > limit:
                missed.add(name)
        return missed

    def expected_outcome(self):
        """What the outcome must be; None where only the simulator can know how it left."""
        if not self.answered:
            return None
        missed = self.missed()
        first = missed & {"ttft", "ttfvt"}
        if first and missed == first:
            return "late_first_token"
        if first:
            return "late_and_slow"
        if missed & {"stall", "itl"}:
            return "stalled"
        if "tpot" in missed:
            return "slow_tokens"
        if "e2e" in missed:
            return "late_completion"
        return self.outcome if self.outcome in ("good", "low_quality") else "good"


def nearest_rank(values, percent):
    """The ceil(p n)-th smallest, None being larger than every number."""
    if not values:
        return None
    ranked = sorted(values, key=lambda value: (value is None, value or 0))
    rank = math.ceil(Fraction(percent, 100) * len(ranked))
    return ranked[max(rank, 1) - 1]


def octave(tokens):
    if tokens <= 1:
        return str(tokens)
    top = 1 << (tokens - 1).bit_length()
    bottom = top // 2 + 1
    return str(top) if top == bottom else f"{bottom}–{top}"


class Check:
    def __init__(self, name):
        self.name, self.wrong, self.compared = name, [], 0

    def same(self, what, ours, theirs):
        self.compared += 1
        if ours != theirs:
            self.wrong.append(f"{self.name}: {what}: here {ours}, report {theirs}")

    def near(self, what, ours, theirs):
        self.compared += 1
        if ours is None or theirs is None:
            ok = ours is None and theirs is None
        else:
            ok = math.isclose(float(ours), theirs, rel_tol=1e-9, abs_tol=1e-12)
        if not ok:
            self.wrong.append(f"{self.name}: {what}: here {ours}, report {theirs}")


def check_counts(check, requests, report):
    good = [r for r in requests if r.outcome == "good"]
    check.same("offered", len(requests), report["offered"])
    for request in requests:
        expected = request.expected_outcome()
        if expected is not None:
            check.same(f"outcome of {request.row['request']}", expected, request.outcome)
    for outcome, count in report["outcomes"].items():
        ours = sum(r.outcome == outcome for r in requests)
        check.same(f"outcomes.{outcome}", ours, count)
    check.near("attainment", Fraction(len(good), len(requests)), report["attainment"])
    seconds = Fraction(report["horizon_s"]) - Fraction(report["warmup_s"])
    check.same("goodput.good", len(good), report["goodput"]["good"])
    check.near("good_rps", len(good) / seconds, report["goodput"]["good_rps"])
    answered = [r for r in requests if r.answered]
    for key, tokens in [
        ("input_tps", sum(r.input for r in answered)),
        ("output_tps", sum(r.output for r in answered)),
        ("good_output_tps", sum(r.output for r in good)),
    ]:
        check.near(key, tokens / seconds, report["goodput"][key])


def check_percentiles(check, requests, report):
    both = {entry["of"]: entry for entry in report["accounting"]["percentiles"]}
    headline = {"ttft": "ttft_ms", "ttfvt": "ttfvt_ms", "tpot": "tpot_ms", "stall": "longest_stall_ms", "e2e": "e2e_ms"}
    if "ttfvt_ms" not in report:
        headline.pop("ttfvt")  # nobody hides tokens
    for name, key in headline.items():
        population = requests
        if name in ("tpot", "stall"):
            population = [r for r in requests if r.output > 1]
        offered = [getattr(r, name) for r in population]
        completed = [getattr(r, name) for r in population if r.answered]
        for percent in (50, 90, 95, 99):
            value = nearest_rank(offered, percent)
            ms = None if value is None else value / Fraction(10**9)
            check.near(f"{key}.p{percent}", ms, report[key][f"p{percent}"])
            check.near(f"over_offered {name}", ms, both[name]["over_offered"][f"p{percent}"])
            value = nearest_rank(completed, percent)
            ms = None if value is None else value / Fraction(10**9)
            check.near(f"over_completed {name}", ms, both[name]["over_completed"][f"p{percent}"])
        check.same(f"{key} population", len(offered), report[key]["population"])


def check_rules(check, requests, report):
    answered = [r for r in requests if r.answered]
    good = sum(r.outcome == "good" for r in requests)
    refused = sum(r.outcome in ("rejected", "too_long") for r in requests)
    denominators = report["accounting"]["denominators"]
    for name, of in [
        ("offered", len(requests)),
        ("admitted", len(requests) - refused),
        ("completed", len(answered)),
    ]:
        check.same(f"denominators.{name}", (good, of), (denominators[name]["good"], denominators[name]["of"]))
    by_tools = sum(r.missed(without=OURS_ALONE) == set() for r in answered)
    cancelled = sum(r.outcome.startswith("cancelled") or r.outcome == "unfinished" for r in requests)
    limited = [r for r in requests if any(limit is not None for limit in r.limits.values())]
    limited_good = sum(r.answered and r.missed(without=OURS_ALONE) == set() for r in limited)
    expected = {
        "goodput": (good, len(requests)),
        "vllm": (by_tools, len(answered)),
        "sglang": (len(answered), len(answered)),
        "guidellm": (len(answered), len(requests)),
        "inference-perf": (by_tools, len(answered)),
        "aiperf": (by_tools, len(requests) - cancelled),
        "blis": (limited_good, len(limited)),
    }
    readings = {r["rule"]: (r["share"]["good"], r["share"]["of"]) for r in report["accounting"]["readings"]}
    check.same("readings", expected, readings)


def check_relaxing(check, requests, relaxing, all_acceptable):
    """Of a late answer the table does not tell whether it was acceptable too: where answers may be
    bad, what is counted here is the most that can be saved."""
    agree = (lambda ours, theirs: ours == theirs) if all_acceptable else (lambda ours, theirs: ours >= theirs)
    lost = [r for r in requests if r.outcome != "good"]
    check.same("lost", len(lost), relaxing["lost"])
    placed = relaxing["quality"] + relaxing["errors"] + relaxing["several"]
    placed += sum(entry["requests"] for entry in relaxing["to_simulate"])
    for entry in relaxing["limits"]:
        name = entry["limit"]
        saved = [r for r in lost if r.outcome in LATE and r.answered and r.missed() == {name}]
        check.same(f"saved by {name}", True, agree(len(saved), entry["saved"]))
        placed += entry["saved"]
        for save in entry["to_save"]:
            limit = round(Fraction(save["limit_ms"]) * 10**9)
            under = sum(r.missed(replaced=(name, limit)) == set() for r in saved)
            check.same(f"to_save {name}", True, agree(under, save["requests"]))
    check.same("every lost request has one place", len(lost), placed)


def check_break_outs(check, requests, report):
    keys = {
        "class": lambda r: r.row["class"],
        "prompt": lambda r: octave(r.input),
        "output": lambda r: octave(r.output),
    }
    for out in report["accounting"]["break_outs"]:
        check.same(f"{out['by']} sums", len(requests), sum(c["offered"] for c in out["cells"]))
        key = keys.get(out["by"][0])
        if key is None:
            continue
        ours = {}
        for request in requests:
            cell = ours.setdefault(key(request), {})
            cell[request.outcome] = cell.get(request.outcome, 0) + 1
        theirs = {cell["key"][0]["label"]: cell["outcomes"] for cell in out["cells"]}
        check.same(f"break-out by {out['by']}", ours, theirs)


def check_cost(check, requests, report):
    cost = report["cost"]
    if cost is None:
        return
    check.near("total", cost["gpu_hours"] * cost["price_per_gpu_hour"], cost["total"])
    paid_s = max(report["ended_s"], report["horizon_s"])
    check.near("gpu_hours", cost["gpus"] * paid_s / 3600, cost["gpu_hours"])
    check.near("lines", sum(line["usd"] for line in cost["lines"]), cost["total"])
    idle = sum(line["usd"] for line in cost["lines"] if line["line"] == "idle")
    by_class = sum(entry["usd"] for entry in cost["classes"])
    check.near("classes and idle", by_class + idle, cost["total"])
    if report["warmup_s"] == 0:
        spent = sum(float(r.row["cost"]) for r in requests)
        check.near("requests and idle", spent + idle, cost["total"])
        good = report["goodput"]["good"]
        per_good = cost["total"] / good if good else None
        check.near("per_good_request", per_good, cost["per_good_request"])
        check.near("good of the run", good, cost["good"])


def check_scenario(folder, name):
    scenario = json.loads((folder / f"{name}.scenario.json").read_text(), parse_float=Fraction)
    report = json.loads((folder / f"{name}.report.json").read_text())
    slos = {c["name"]: c.get("slo", {}) for c in scenario["workload"]["classes"]}
    with (folder / f"{name}.requests.csv").open(newline="") as table:
        requests = [Request(row, slos[row["class"]]) for row in csv.DictReader(table)]
    check = Check(name)
    check_counts(check, requests, report)
    check_percentiles(check, requests, report)
    check_rules(check, requests, report)
    unchecked = {"state": "not_checked"}
    acceptable = all(c.get("quality", unchecked) == unchecked for c in scenario["workload"]["classes"])
    check_relaxing(check, requests, report["accounting"]["relaxing"], acceptable)
    check_break_outs(check, requests, report)
    check_cost(check, requests, report)
    return check


def main():
    folder = pathlib.Path(sys.argv[1])
    names = sorted(path.name[: -len(".scenario.json")] for path in folder.glob("*.scenario.json"))
    checks = [check_scenario(folder, name) for name in names]
    wrong = [line for check in checks for line in check.wrong]
    for line in wrong[:40]:
        print(line)
    print(f"{len(checks)} scenarios, {sum(c.compared for c in checks)} figures, {len(wrong)} differ")
    return 1 if wrong or not checks else 0


if __name__ == "__main__":
    sys.exit(main())
