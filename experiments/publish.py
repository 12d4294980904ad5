"""Cards of the models that come with the program, and what they score in figures: models/PROBLEM.md and models/PROBLEM.json from results/shipped.

Run after `experiments/shipped`. The parameters are not touched: a model keeps its card's run until it is replaced by hand (with its line below).
"""
import json
import pathlib
import struct
import tomllib

top = pathlib.Path(__file__).resolve().parent.parent
# By which run each was made: the commit, and how long it took. Each was the median of three seeds on the instances of seed 1000 as they were then.
ORIGIN = {"heat1d": ("bf8f5cd", 45), "fkpp1d": ("e48b902", 158), "heat2d": ("7d600b6", 29), "heat2d_obstacles": ("7d600b6", 29), "ks1d": ("3977597", 8),
          "ks2d": ("bf20539", 108), "turbulence2d": ("bf20539", 56), "density2d": ("a46552f", 82)}
CHAOTIC = ("ks1d", "ks2d", "turbulence2d")
LIMITS = {
    "heat1d": "Knows where it is, and nothing of its neighbours.",
    "fkpp1d": "Knows where it is, and nothing of its neighbours.",
    "heat2d": "Agents divide their pushes by how crowded their place is (`swarm.crowd`), for which they need the places and deaths of neighbours up to 0.37 away. They hardly move.",
    "heat2d_obstacles": "Agents divide their pushes by how crowded their place is, for which they need the places and deaths of neighbours up to 0.37 away. The safety layer keeps them out of the "
                        "discs, not out of the margin of 0.08 around these, where they spend 17 to 19 % of their time. With 256 and more they start nearer to each other than the cost's 0.08.",
    "ks1d": "Agents divide their pushes by how crowded their place is (neighbours up to 2.45 away, 22 % of the ring). Fewer than seven agents on this ring leave a growing wave that no agent feels. "
            "The range is that of the mean energy; at the last tick seven agents leave far more than eight.",
    "ks2d": "Agents divide their pushes by how crowded their place is (neighbours up to 5.9 away, 11 % of the torus). Stands on the most even lattice, not on the paper's square one. "
            "Fewer than ninety leave growing waves that they hardly feel.",
    "turbulence2d": "Agents divide their pushes by how crowded their place is (neighbours up to 0.12 away, 5 % of the torus). Trained with half of the agents dead; one trained for 64 agents alone "
                    "(setting `sharp` of the results) leaves less with these.",
    "density2d": "Every agent sees the whole field and both centroids. It divides its wind by how crowded its place is (neighbours up to 0.49 away). Velocities are limited to 0.05 (the paper: 0.8), "
                 "so agents travel 0.075 at most: they blow rather than move. Trained with the conservative scheme.",
}


def rows(path):
    """The JSON lines of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def facts(path):
    """What a model file says of itself."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    return json.loads(json.loads(raw[8:8 + length])["__metadata__"]["cinoc"])


def times(factor):
    """A factor, to two digits."""
    return f"{factor:.0f}" if factor >= 10 else f"{factor:.1f}"


def within(shares, trained):
    """The smallest and largest number of agents tried such that all between are within 250 %."""
    low = high = trained
    for m in sorted((m for m in shares if m < trained), reverse=True):
        if shares[m] > 2.5:
            break
        low = m
    for m in sorted(m for m in shares if m > trained):
        if shares[m] > 2.5:
            break
        high = m
    return low, high


scored = json.loads((top / "results" / "shipped" / "origin.json").read_text())["commit"]
for problem, (commit, seconds) in ORIGIN.items():
    own = facts(top / "models" / f"{problem}.safetensors")
    config = tomllib.loads(own["config"])
    trained, seed = config["swarm"]["agents"], int(own["seed"])
    folder = top / "results" / "shipped" / problem
    table, fail = rows(folder / "eval.jsonl"), rows(folder / "fail.jsonl")
    base = lambda n: next(r for r in table if r["agents"] == trained and r["instances"] == n)
    best = base(max(r["instances"] for r in table))
    others = {r["agents"]: r for r in table if r["agents"] != trained or r is best}
    shares = {m: float(r["ratio"]) / base(r["instances"])["ratio"] for m, r in others.items()}
    low, high = within(shares, trained)
    counts = sorted(others)
    few = [m for m in counts if others[m]["instances"] < best["instances"]]
    fewer = f", `cinoc eval {problem} --agents {','.join(map(str, [trained, *few]))} --instances {others[few[0]]['instances']}`" if few else ""
    start = f", `cinoc eval {problem} --fail 0.3 --fail-at 0`" if problem in CHAOTIC else ""
    die = "; ".join(f"{f['dead']} of {trained} dead from tick {f['dead_from']}: {f['score']['mean']:.2e}, {times(f['ratio'] / best['ratio'])} times as much" for f in fail)
    shared = " All seeds of that commit shared one set of states to train on." if problem in CHAOTIC else ""
    text = [f"# {problem}", "", f"A policy for `{problem}`, trained with {trained} agents (seed {seed}).", "",
            f"- **Trained** by `cinoc train {problem} --seed {seed}` at commit {commit}, {seconds} s on two cores of an Intel Xeon virtual machine; the parameters are those after "
            f"{own['update']} of {config['train']['updates']} updates, the best on validation instances.{shared} Of three seeds it was the median on seed 1000.",
            f"- **Score** on {best['instances']} held-out instances of seed 1000, at commit {scored} like all figures here: mean {best['score']['mean']:.2e}, median {best['score']['median']:.2e}, standard deviation {best['score']['std']:.2e}; "
            f"uncontrolled {best['uncontrolled']['mean']:.3g}; ratio {best['ratio']:.2e} (95 % by bootstrap: {best['ratio_95'][0]:.2e} to {best['ratio_95'][1]:.2e}).",
            f"- **Deaths** (30 %, rounded to whole agents): {die}.",
            f"- **Agents**: from {low} to {high} the ratio is at most 2.5 times that of {trained}.",
            f"- **Again**: `cinoc eval {problem} --agents {','.join(str(m) for m in counts if m not in few)}`{fewer}, `cinoc eval {problem} --fail 0.3`{start}.", "",
            "Other numbers of agents, without training; percents against the trained number on the same instances:", "",
            "| agents | " + " | ".join(map(str, counts)) + " |", "|---" * (len(counts) + 1) + "|",
            "| instances | " + " | ".join(str(others[m]["instances"]) for m in counts) + " |",
            "| score | " + " | ".join(f"{others[m]['score']['mean']:.1e}" for m in counts) + " |",
            f"| ratio, percent of that at {trained} | " + " | ".join(f"{100 * shares[m]:.0f}" for m in counts) + " |", "",
            f"**Limits.** {LIMITS[problem]} Trained for the physics of its settings only (they are inside the file).", ""]
    (top / "models" / f"{problem}.md").write_text("\n".join(text))
    short = {"problem": problem, "ratio": float(f"{best['ratio']:.3e}"), "agents": [low, high], "trained": trained, "seed": seed, "instances": best["instances"]}
    (top / "models" / f"{problem}.json").write_text(json.dumps(short) + "\n")
    print(f"{problem}: seed {seed}, ratio {best['ratio']:.2e}, {low} to {high} agents")
