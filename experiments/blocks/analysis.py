"""Tables of optima, receding horizon and linear stability."""


from blocks import block, interval, number, table
from blocks.scores import rows
from cases import PROBLEMS

CASES = {"M/2": "half the agents", "M": "trained number", "2M": "twice the agents", "failures": "failures halfway"}


def gaps():
    """Rows of found optima as bounds: an instance without failures can be controlled at least as well as with them.

    A search with failures that ends below the one without bounds both: its actions, with zero control of the agents
    that fail, are
    possible for the full swarm too.
    """
    found = [dict(line, bounded=False) for line in rows("optimum") if line["kind"] == "gap"]
    for line in found:
        if line["case"] == "M":
            failed = next(
                (other for other in found if (other["problem"], other["case"]) == (line["problem"], "failures")), None
            )
            same = failed and all(failed[key] == line[key] for key in ("agents", "instances", "seed"))
            if same and failed["optimum_ratio"] < line["optimum_ratio"]:
                line.update(optimum_ratio=failed["optimum_ratio"], bounded=True)
    return sorted(found, key=lambda line: (list(PROBLEMS).index(line["problem"]), list(CASES).index(line["case"])))


@block("gaps")
def gap_table():
    """Policy against the best actions found."""
    out = []
    for line in gaps():
        gap = line["policy_ratio"] / line["optimum_ratio"]
        out.append(
            [
                f"`{line['problem']}`",
                CASES[line["case"]],
                line["agents"],
                line["seed"],
                line["iterations"],
                f"{line['converged']} of {line['instances']}",
                number(line["policy_ratio"]),
                f"≤ {number(line['optimum_ratio'])}{'*' if line['bounded'] else ''}",
                f"≥ {number(gap)}",
                f"≥ {number(line['gap_median'])}",
            ]
        )
    note = (
        ["", "\\* The search with failures found a lower value on the same instances; it bounds this one too."]
        if any(line["bounded"] for line in gaps())
        else []
    )
    head = [
        "problem",
        "case",
        "agents",
        "seed",
        "iterations",
        "flat",
        "policy, relative error",
        "optimum, relative error",
        "gap of the means",
        "median gap",
    ]
    return [*table(head, out), *note]


@block("optima")
def optima():
    """Searches to convergence, instances of seed 1000, and the least squares bound of agents at rest without limits."""
    out = []
    for line in rows("optimum"):
        if line["kind"] == "converged":
            uncontrolled = line["uncontrolled"]["mean"]
            out.append(
                [
                    f"`{line['problem']}`",
                    f"{line['agents']}" + (", failures halfway" if line["fail"] else ""),
                    line["instances"],
                    f"≤ {number(line['ratio'])}",
                    number(line["bound_unlimited_static"]["mean"] / uncontrolled),
                    f"{line['iterations']:.0f}",
                    f"{line['converged']} of {line['instances']}",
                ]
            )
    return table(
        [
            "problem",
            "agents",
            "n",
            "optimum, relative error",
            "without limits, agents at rest",
            "iterations, mean",
            "flat",
        ],
        out,
    )


@block("nmpc")
def nmpc():
    """Receding horizon on ks1d."""
    out = []
    for line in rows("nmpc"):
        if "summary" in line:
            request, found = line["request"], line["instances"]
            ratio = sum(one["score"] for one in found) / sum(one["uncontrolled"] for one in found)
            cost = {
                "training_cost": "cost of training",
                "no_log": "without `cost.last_log`",
                "no_log_no_last": "without `cost.last_log` and `cost.last`",
            }
            name = line["run"].split("nmpc-")[1]
            words = cost["no_log"] if name == "test" else cost[name.removeprefix("test_").removesuffix("_40")]
            out.append(
                [
                    words,
                    request["horizon"],
                    line["seed"],
                    len(found),
                    number(ratio),
                    f"{1e3 * line['summary']['decision_seconds']['mean']:.0f}",
                    f"{1e3 * line['summary']['decision_seconds_worst']:.0f}",
                ]
            )
        else:
            out.append(["shipped policy", "", line["seed"], line["instances"], number(line["ratio"]), "", ""])
    return table(
        ["cost of a plan", "ticks ahead", "seed", "n", "relative energy", "ms per decision of the swarm", "worst"], out
    )


@block("ipopt")
def ipopt():
    """Found actions against IPOPT on the same discretised episodes."""
    out = [
        [
            line["instance"],
            line["nodes"],
            line["ticks"],
            f"{line['ours_replayed_in_f64']:.6f}",
            f"{line['ipopt']:.6f}",
            f"{line['ours_replayed_in_f64'] / line['ipopt'] - 1:.0e}",
        ]
        for line in rows("optimum")
        if line["kind"] == "ipopt"
    ]
    return table(["instance", "nodes", "ticks", "cost, ours", "cost, IPOPT", "ours above it"], out)


def same_sign(r):
    """Both stable or both not."""
    return (r["predicted_all"] < 0) == (r["simulated_all"] < 0)


def agreement(r):
    """Agreement of prediction and simulation."""
    if not r["still"]:
        return "not analysed"
    return "yes" if r["agree"] else "sign only" if same_sign(r) else "no"


@block("stability")
def pairs():
    """Growth rates of shipped policies, predicted and simulated. Of agents that do not come to rest nothing is
    predicted."""
    found = [line for line in rows("stability") if line["kind"] == "pair"]
    out = []
    for r in sorted(found, key=lambda r: (r["problem"], r["settings"], r["spacing"])):
        changed = f" ({', '.join(r['settings'])})" if r["settings"] else ""
        predicted, stable = (
            (f"{r['predicted']:+.4f}", "no" if r["predicted_all"] >= 0 else "yes") if r["still"] else ("", "")
        )
        out.append(
            [
                f"`{r['problem']}`{changed}",
                r["agents"],
                f"{r['spacing']:.3f}",
                f"{r['uncontrolled']:+.3f}",
                predicted,
                f"{r['simulated']:+.4f}",
                f"{r['growth_slow']:+.4f}" if r["phase"] else "",
                stable,
                agreement(r),
            ]
        )
    judged = [r for r in found if r["still"]]
    stable = sum(r["predicted_all"] < 0 for r in judged)
    rates = sum(r["agree"] for r in judged)
    counts = (
        f"{len(found)} swarms, {len(judged)} of them analysed: {stable} stable, {len(judged) - stable} unstable. The sign agrees with",
        f"simulations on {sum(map(same_sign, judged))}, the rate too (to a twentieth, or 0.01 per unit of time) on {rates}.",
    )
    head = [
        "problem",
        "agents",
        "spacing",
        "uncontrolled",
        "predicted",
        "simulated",
        "predicted, infinite lattice",
        "stable",
        "agreement",
    ]
    return [*counts, "", *table(head, out)]


@block("margins")
def margins():
    """Margins and norms of default and sharp policies."""
    rate = lambda x: "" if x is None else f"{x:+.3g}"
    ticks = lambda n: "" if n is None else f"{n} tick{'s' * (n != 1)}"
    out = []
    for r in rows("stability"):
        if r["kind"] != "margins":
            continue
        gains = r["gain_margin"]
        out.append(
            [
                "`{}`{}{}".format(*r["policy"].partition(",")),
                f"{r['agents']}, {r['failed']} failed" if r["failed"] else r["agents"],
                f"{r['spacing']:.3g}",
                rate(r["rate"]),
                rate(r["rate_infinite"]),
                rate(r["rate_moving"]),
                number(r["tail"]) if r.get("tail") else "",
                rate(r["uncontrolled"]),
                f"{number(gains[0]) if gains[0] else 0} to {number(gains[1])}" if gains else "",
                ticks(r["delay_margin"]),
                *(number(r[norm]) if r.get(norm) else "" for norm in ("h2", "h_infinity")),
            ]
        )
    head = ["policy", "agents", "spacing", "held", "held, infinite lattice", "moving", "tail", "uncontrolled"]
    return table([*head, "gain margin", "delay margin", "H₂", "H∞"], out)


@block("long-runs")
def long_runs():
    """ks1d over ten times the episode."""
    out = [
        [r["agents"], r["instances"], number(r["ratio"]), interval(r["ratio_95"]), number(r["measures"]["energy_last"])]
        for r in rows("stability")
        if r["kind"] == "long"
    ]
    return table(["agents", "n", "relative mean energy", "95 %", "energy at the last tick"], out)
