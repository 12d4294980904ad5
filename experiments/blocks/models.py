"""Shipped models: pages of problems, cards, fresh instances."""

from blocks import block, cell, interval, number, table
from blocks.comparison import published_span, shares, span, within
from blocks.scores import TITLES, against_paper, envelope, failed, mean, method, methods, published, rows, run, transfer_cells
from cases import METHODS, MORE, MORE_SEEDS, PROBLEMS, SEEDS, SETTINGS, SHIPPED, TESTED, WITHHELD, run_name, shipped_name


@block("scores", PROBLEMS)
def scores(problem):
    """All methods on the page of a problem."""
    about, out = PROBLEMS[problem], []
    for one in methods(problem):
        if lines := one.of("agents", about.agents):
            said = f" ({against_paper(problem, lines)})" if one.name == "tuned" else ""
            out.append(
                [
                    one.title + (", trained here" if one.name in ("paper", "centralised") else ""),
                    cell(mean(lines, "score")),
                    cell(mean(lines)) + said,
                    interval(envelope(lines)),
                    lines[0].get("instances", ""),
                    len(lines) if one.training else "",
                ]
            )
    for name in reversed(METHODS):
        score = about.paper.scores[name]
        own = name == "cinoc"
        out.append(
            [
                f"published: {TITLES[name]}",
                number(score),
                number(score / about.paper.uncontrolled),
                interval(published(problem)[1]) if own else "",
                about.paper.instances if own else "",
                "",
            ]
        )
    uncontrolled = mean(method(problem, "tuned").of("agents", about.agents), "uncontrolled")
    return [
        f"{about.agents} agents; score: {about.score}; uncontrolled {cell(uncontrolled)} on the test instances (seed 5000), {about.paper.uncontrolled:g} on the paper's.",
        "",
        *table(["method", "score", "relative error", "95 %", "n", "training seeds"], out),
    ]


@block("swarms", PROBLEMS)
def swarms(problem):
    """The recipe with other swarms, on the page of a problem."""
    m, own = PROBLEMS[problem].agents, method(problem, "tuned")
    drawn = sorted(set(run(run_name(problem, "tuned", 0))["config"]["train"]["agents"])) or [m]
    head = [
        "",
        f"{m // 2} agents",
        m,
        2 * m,
        4 * m,
        f"failures halfway ({failed(own.of('deaths'))})",
        "sensor noise, 1 %",
        "actuator noise, 1 %",
    ]
    return [
        f"The sharp policies, means over three training seeds, without further training. Trained with {', '.join(map(str, drawn))} agents.",
        "",
        *table(head, [["relative error", *transfer_cells(own, m)]]),
        "",
        f"Within 2.5 times the error at {m} agents, on every seed: {span(problem)}. In the paper, with its policies: {published_span(problem)}.",
    ]


@block("settings", PROBLEMS)
def settings(problem):
    """Settings of the recipe."""
    config = run(run_name(problem, "tuned", 0))["config"]
    line = lambda section: ", ".join(
        f"{key} {value}".lower() if isinstance(value, bool) else f"{key} {value}"
        for key, value in config[section].items()
    )
    sections = ("physics", "swarm", "observe", "cost", "policy", *(("obstacles",) if "obstacles" in config else ()))
    return table(["", "settings of our recipe"], [[f"`{section}`", line(section)] for section in sections])


def shipped(problem, setting):
    """The published run of a recipe: the lowest score on its validation instances, of the first seeds that are not
    withheld; test instances have no say in it. None if it was not trained."""
    return min(
        (
            line
            for line in rows("runs")
            if (line["problem"], line["setting"]) == (problem, setting) and line["seed"] in SEEDS and line["run"] not in WITHHELD
        ),
        key=lambda line: line["train"]["validation"],
        default=None,
    )


def known_agents(problem, setting, best):
    """Numbers of agents within 2.5 times the error at the trained number: by the study of numbers of agents, or by the
    test where the study has other policies."""
    trained = PROBLEMS[problem].agents
    if setting == "tuned":
        return within(shares(problem, best["seed"]), trained)
    found = {
        one["agents"]: float(one["ratio"])
        for one in rows("test")
        if one["run"] == best["run"] and one["case"] == "agents"
    }
    return within({count: ratio / found[trained] for count, ratio in found.items()}, trained)


def facts(problem, setting):
    """Figures of a shipped model that the program knows."""
    best, trained = shipped(problem, setting), PROBLEMS[problem].agents
    line = next(
        one
        for one in rows("test")
        if one["run"] == best["run"] and one["case"] == "agents" and one["agents"] == trained
    )
    return {
        "problem": problem,
        "ratio": float(f"{line['ratio']:.3e}"),
        "ratio_median": float(f"{line['ratio_median']:.3e}"),
        "agents": list(known_agents(problem, setting, best)),
        "trained": trained,
        "seed": best["seed"],
        "instances": line["instances"],
    }


@block("card", PROBLEMS)
def card(problem):
    """The cards of the shipped models of a problem."""
    there = [setting for setting in SHIPPED if shipped_name(problem, setting) and shipped(problem, setting)]
    return [line for setting in there for line in ("", *one_card(problem, setting))][1:]


def delays(problem, setting, best):
    """What is known of delays."""
    if setting == "tuned":
        late = {
            row["x"]: float(row["value"])
            for one in rows("studies/delay")
            if one["problem"] == problem
            for row in one["rows"]
            if row["policy"] == best["seed"] and row["line"] == "trained without delay"
        }
        found = ", ".join(number(late[ticks]) for ticks in (0, 1, 2, 3))
        return [f"- **Delay** of 0, 1, 2, 3 ticks (study, seed 4000): relative error {found}."]
    found = next(one for one in rows("studies/robust") if one["problem"] == problem)
    of = {row["line"]: row for row in found["rows"] if row["trained"] == best["seed"]}
    part = lambda row, key: number(float(row[key]) / float(row["uncontrolled"]))
    lines = [[name, number(float(row["value"])), part(row, "p95"), part(row, "worst")] for name, row in of.items()]
    some = next(iter(of.values()))
    return [
        f"- **Tolerance** (`cinoc study robust {problem}`, {some['instances']} instances of seed {found['seed']}):",
        "",
        *table(["disturbance", "relative error", "95 % below", "worst"], lines),
        "",
    ]


def one_card(problem, setting):
    """The card of a shipped model."""
    best, trained, name = shipped(problem, setting), PROBLEMS[problem].agents, shipped_name(problem, setting)
    of = lambda case, agents=None: next(
        r for r in rows("test") if r["run"] == best["run"] and r["case"] == case and agents in (None, r["agents"])
    )
    usual, failures = of("agents", trained), of("deaths")
    s, known = usual["score"], facts(problem, setting)
    counts = [trained // 2, trained, 2 * trained, 4 * trained]
    cases = [of("agents", count) for count in counts] + [failures, of("sensors"), of("actuators")]
    over = lambda key: [number(float(r["score"][key]) / r["uncontrolled"]["mean"]) for r in cases]
    drawn = sorted(set(best["config"]["train"]["agents"]) or {trained})
    seeds = sum((line["problem"], line["setting"]) == (problem, setting) and line["seed"] in SEEDS for line in rows("runs"))
    chosen = f"one of {seeds} seeds" if seeds > 1 else "the only seed"
    preset = SETTINGS[setting].preset
    return [
        f"## {name}",
        "",
        f"- **Training**: `cinoc train {problem} --preset {preset} --seed {best['seed']}` at commit {best['commit']}, with {', '.join(map(str, drawn))} agents; seed and "
        f"parameters (update {best['train']['best_update']} of {best['train']['updates']}, {chosen}) were chosen on validation instances.",
        f"- **Score** ({PROBLEMS[problem].score}) on {usual['instances']} test instances of seed {usual['seed']} with {trained} agents: mean {s['mean']:.2e}, uncontrolled "
        f"{usual['uncontrolled']['mean']:.3g}; relative error {usual['ratio']:.2e} (95 % by bootstrap: {usual['ratio_95'][0]:.2e} to {usual['ratio_95'][1]:.2e}).",
        f"- **Numbers of agents**: from {known['agents'][0]} to {known['agents'][1]} the relative error is at most 2.5 times that with {trained}.",
        *delays(problem, setting, best),
        f"- **Reproduce**: `cinoc eval {name} --seed {usual['seed']} --agents {','.join(map(str, counts))}`, `cinoc eval {name} --seed {usual['seed']} --fail 0.3`.",
        "",
        "Relative errors over the instances:",
        "",
        *table(
            [
                "",
                *(f"{count} agents" for count in counts),
                f"failures ({failed([failures])})",
                "sensor noise, 1 %",
                "actuator noise, 1 %",
            ],
            [
                ["n", *(r["instances"] for r in cases)],
                ["mean", *over("mean")],
                ["median", *over("median")],
                ["95 % below", *over("p95")],
                ["worst", *over("worst")],
            ],
        ),
    ]


@block("fresh")
def fresh():
    """Shipped models on instances of seed 6000, beside the same models in the test."""
    found = {line["claim"]: line for line in rows("checks")}
    out = []
    for problem in PROBLEMS:
        cells = [f"`{problem}`"]
        for setting in SHIPPED:
            name, m = shipped(problem, setting)["run"], PROBLEMS[problem].agents
            tested = {line["case"]: line for line in rows("test") if (line["run"], line.get("agents")) == (name, m)}
            for case in ("agents", "both"):
                line = found.get(f"fresh-{problem}-{setting}-{case}")
                words = f"{number(line['value'])} ({interval((line['low'], line['high']))})" if line else ""
                cells += [words, cell(tested[case]["ratio"]) if case in tested else ""]
        out.append(cells)
    head = [
        f"{name}, {case}{of}"
        for name in ("default", "sharp")
        for case in ("undisturbed", "noise and delay")
        for of in ("", ", seed 5000")
    ]
    return table(["problem", *head], out)


def checked(claim):
    """A check of one evaluation and its interval, in words; empty if it was not run."""
    line = next((line for line in rows("checks") if line["claim"] == claim), None)
    return f"{number(line['value'])} ({interval((line['low'], line['high']))})" if line else ""


def one_seed(name, case):
    """The test of one training run with the usual number of agents."""
    problem = name.split("/")[0]
    usual = (name, PROBLEMS[problem].agents)
    line = next((line for line in rows("test") if (line["run"], line.get("agents")) == usual and line["case"] == case), None)
    return cell(line["ratio"]) if line else ""


@block("fresh-others")
def fresh_others():
    """The first training seed of the other settings on instances of seed 6000, beside the same models in the test."""
    out = []
    for problem in PROBLEMS:
        for setting in (setting for setting in TESTED if setting not in SHIPPED):
            cells = []
            for case in ("agents", "both"):
                cells += [checked(f"fresh-{problem}-{setting}-{case}"), one_seed(run_name(problem, setting, 0), case)]
            if cells[0]:
                out.append([f"`{problem}`", SETTINGS[setting].title, *cells])
    head = ["undisturbed", "undisturbed, seed 5000", "noise and delay", "noise and delay, seed 5000"]
    return table(["problem", "method", *head], out)


@block("more-seeds")
def more_seeds():
    """Further training seeds beside the mean of the first three, on the same instances."""
    out = []
    for problem, setting in MORE:
        found = [checked(f"seed-{problem}-{setting}-{seed}-agents") for seed in MORE_SEEDS]
        if any(found):
            lines = method(problem, setting).of("agents", PROBLEMS[problem].agents)
            first = f"{cell(mean(lines))} ({interval(envelope(lines))})"
            values = [float(line["ratio"]) for line in lines]
            values += [line["value"] for seed in MORE_SEEDS for line in rows("checks") if line["claim"] == f"seed-{problem}-{setting}-{seed}-agents"]
            out.append([f"`{problem}`", SETTINGS[setting].title, first, *found, number(sum(values) / len(values))])
    return table(["problem", "policy", "first three seeds", *(f"seed {seed}" for seed in MORE_SEEDS), "mean of all"], out)
