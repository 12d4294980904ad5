"""Tables from results/: held-out ratios over seeds, transfer to other numbers of agents, failures. Writes results/README.md."""
import json
import pathlib
import statistics
import tomllib

root = pathlib.Path(__file__).resolve().parent.parent / "results"
PUBLISHED = {"heat1d": (7.4e-4, "8", "0.5–4×"), "fkpp1d": (4.5e-4, "20", "0.7–5×"),
             "heat2d": (8.5e-4, "16", "1–16×"), "heat2d_obstacles": (6.8e-4, "16", "1–16×, without obstacles"),
             "ks1d": (0.090, "8", "0.5–3× of 30 agents on a ring of length 32,"), "ks2d": (0.027, "100", "0.7–1.3× of 196 agents"),
             "turbulence2d": (0.064, "64", "0.6–16×"), "density2d": (0.074, "9", "0.25–64× of 16 agents")}
TITLES = {"tuned": "tuned", "soft": "soft: no safety layer, discs not seen", "blind": "blind: safety layer, discs not seen", "seen": "seen: no safety layer, discs seen",
          "square": "square: agents on a square lattice", "dense": "dense: trained with 196 agents", "sharp": "sharp: all agents live in training, square lattice", "backward": "backward: the published scheme", "patch": "patch: agents see patches",
          "ring64": "ring64: trained on length 64, 30 agents", "ring200": "ring200: length 200, 80 agents", "ring500": "ring500: length 500, 200 agents", "paper": "paper"}


def rows(path):
    """The JSON lines of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def trained_agents(folder):
    """The number of agents a run was trained with."""
    return tomllib.loads((folder / "config.toml").read_text())["swarm"]["agents"]


def trained_row(folder):
    """The scores at the trained number of agents."""
    return next(r for r in rows(folder / "eval.jsonl") if r["agents"] == trained_agents(folder))


out = ["# Results", "", "Made by `experiments/all`; each folder holds the settings, the metrics of every update, the scores and where they came from.",
       "Scores are means over 200 (chaotic problems: 50) held-out instances (seed 1000) that no training run has seen and no recipe was chosen on;",
       "a ratio is the mean score over the mean uncontrolled score of the same instances. In the plane, swarms that take long are scored on fewer instances; each line of `eval.jsonl` says on how many.", ""]
for problem, (paper, trained, published) in PUBLISHED.items():
    if not (root / problem).exists():
        continue
    out += [f"## {problem}", "", "| setting | seed | best after | score | ratio | ratio in the paper | training |", "|---|---|---|---|---|---|---|"]
    for preset, title in TITLES.items():
        ratios = []
        for folder in sorted((root / problem).glob(f"{preset}-*")):
            train = json.loads((folder / "train.json").read_text())
            row = trained_row(folder)
            ratios.append(row["ratio"])
            out.append(f"| {title} | {train['seed']} | {train['best_update']} of {train['updates']} updates | {row['score']['mean']:.2e} "
                       f"| {row['ratio']:.2e} | {paper:.1e} | {train['seconds']:.0f} s |")
        if ratios:
            out.append(f"| **{preset}** | **mean of {len(ratios)}** | | | **{statistics.mean(ratios):.2e}** | {paper:.1e} | |")
    safety = [(title, f, trained_row(f).get("measures") or {})
              for preset, title in TITLES.items() for f in sorted((root / problem).glob(f"{preset}-*"))]
    if any("clearance" in measures for *_, measures in safety):
        out += ["", "Agent-ticks inside a disc, inside a disc or its margin, and the smallest distance of any agent to the edge of a disc (negative: inside), over all instances:", "",
                "| setting | seed | inside | inside or margin | clearance | error at the last tick |", "|---|---|---|---|---|---|"]
        out += [f"| {title} | {f.name.split('-')[1]} | {100 * m['violations']:.3f} % | {100 * m['violations_margin']:.2f} % | {m['clearance']:.4f} | {m['mse']:.2e} |" for title, f, m in safety]
    elif any(safety_row[2] for safety_row in safety):
        names = next(m for *_, m in safety if m)
        out += ["", "All that is measured (means over the instances):", "", "| setting | seed | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
        out += [f"| {title} | {f.name.split('-')[1]} | " + " | ".join(f"{m[name]:.2e}" for name in names) + " |" for title, f, m in safety]
    for preset in ("tuned", "dense", "sharp"):
        folders = sorted((root / problem).glob(f"{preset}-*"))
        if not folders:
            continue
        agents = trained_agents(folders[0])
        out += ["", f"Other numbers of agents, {'our recipe' if preset == 'tuned' else TITLES[preset]}, without training (percent of the ratio at {agents} agents; published range {published} with one instance):", ""]
        tables = [{r["agents"]: r["ratio"] for r in rows(f / "eval.jsonl")} for f in folders]
        counts = list(tables[0])
        out += ["| seed | " + " | ".join(map(str, counts)) + " | 30 % die halfway |", "|---" * (len(counts) + 2) + "|"]
        for folder, table in zip(folders, tables):
            base = table[agents]
            fail = rows(folder / "fail.jsonl")[0]["ratio"]
            out.append(f"| {folder.name.split('-')[1]} | " + " | ".join(f"{100 * table[c] / base:.0f} %" for c in counts) + f" | {100 * fail / base:.0f} % |")
    out.append("")
(root / "README.md").write_text("\n".join(out))
print("\n".join(out))
