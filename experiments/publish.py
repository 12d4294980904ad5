"""Models that come with the program, their cards and what they score in figures: crates/cinoc/models/PROBLEM.{safetensors,md,json} from runs/ and results/.

Of the runs of our recipe the one with the lowest score on its validation instances is published; the held-out instances have no say in it. Its card is
written from results/PROBLEM/tuned-SEED. Where runs/PROBLEM-tuned-SEED is missing, the parameters stay as they are.
"""
import json
import pathlib
import shutil
import struct
import sys
import tomllib

top = pathlib.Path(__file__).resolve().parent.parent
PROBLEMS = ("heat1d", "fkpp1d", "heat2d", "heat2d_obstacles", "ks1d", "ks2d", "turbulence2d", "density2d")
CHAOTIC = ("ks1d", "ks2d", "turbulence2d")
SEES = "Agents remember eight numbers and are told how far it is to their living neighbours"
LIMITS = {
    "heat1d": f"{SEES}, to the left and to the right; they know where they are, and see the target. They divide their pushes by how crowded their place is (`swarm.crowd`; neighbours up to 0.24 away).",
    "fkpp1d": f"{SEES}, to the left and to the right; they know where they are, and see the target. They divide their pushes by how crowded their place is (`swarm.crowd`; neighbours up to 0.12 away).",
    "heat2d": f"{SEES} in eight directions; they know where they are, and see the target. They divide their pushes by how crowded their place is (neighbours up to 0.37 away).",
    "heat2d_obstacles": f"{SEES} in eight directions; they know where they are, and see the target and the nearest disc. They divide their pushes by how crowded their place is. The safety layer keeps "
                        "the paper's margin of 0.08 around the discs, and lets nobody pass between a disc and a wall nearer than that. Discs may be elsewhere or move (`obstacles.discs`, `obstacles.orbit`); it was trained with neither.",
    "ks1d": f"{SEES}, to the left and to the right. They divide their pushes by how crowded their place is (neighbours up to 2.45 away, 22 % of the ring). The range is that of the mean energy; "
            "at the last tick seven agents leave far more than eight.",
    "ks2d": f"{SEES} in eight directions. They divide their pushes by how crowded their place is (neighbours up to 5.9 away, 11 % of the torus). They stand on the most even lattice, not on the paper's square one.",
    "turbulence2d": f"{SEES} in eight directions. They divide their pushes by how crowded their place is (neighbours up to 0.12 away, 5 % of the torus). They stand on the most even lattice.",
    "density2d": f"{SEES} in eight directions; they see a patch around them and know where both centroids lie. They divide their wind by how crowded their place is (neighbours up to 0.49 away). "
                 "Trained with the conservative scheme.",
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


def publish(problem):
    """One model."""
    runs = {f.name.rsplit("-", 1)[1]: json.loads((f / "train.json").read_text()) for f in sorted((top / "results" / problem).glob("tuned-*"))}
    seed = min(runs, key=lambda s: runs[s]["validation"])
    folder, model = top / "results" / problem / f"tuned-{seed}", top / "crates/cinoc/models" / f"{problem}.safetensors"
    run = top / "runs" / f"{problem}-tuned-{seed}" / "model.safetensors"
    if run.exists():
        shutil.copyfile(run, model)
    own, train, origin = facts(model), runs[seed], json.loads((folder / "origin.json").read_text())
    assert own["seed"] == seed, f"{problem}: the model is of seed {own['seed']}, but {seed} is to be published and its run is missing"
    config = tomllib.loads(own["config"])
    trained = config["swarm"]["agents"]
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
    s = best["score"]
    text = [f"# {problem}", "", f"A policy for `{problem}`, trained with {', '.join(map(str, sorted(set(config['train']['agents']) or {trained})))} agents (seed {seed}).", "",
            f"- **Trained** by `cinoc train {problem} --seed {seed}` at commit {origin['commit']}, {train['seconds']:.0f} s on one core of a busy machine; the parameters are those after "
            f"{own['update']} of {config['train']['updates']} updates, the best on validation instances. Of three seeds it scored best on these.",
            f"- **Score** on {best['instances']} held-out instances of seed 3000, {trained} agents: mean {s['mean']:.2e}, median {s['median']:.2e}, 95 % below {s['p95']:.2e}, worst {s['worst']:.2e}; "
            f"uncontrolled {best['uncontrolled']['mean']:.3g}; ratio {best['ratio']:.2e} (95 % by bootstrap: {best['ratio_95'][0]:.2e} to {best['ratio_95'][1]:.2e}).",
            f"- **Deaths** (30 %, rounded to whole agents): {die}.",
            f"- **Agents**: from {low} to {high} the ratio is at most 2.5 times that of {trained}.",
            f"- **Again**: `cinoc eval {problem} --agents {','.join(str(m) for m in counts if m not in few)}`{fewer}, `cinoc eval {problem} --fail 0.3`{start}.", "",
            "Other numbers of agents; percents against the number above on the same instances:", "",
            "| agents | " + " | ".join(map(str, counts)) + " |", "|---" * (len(counts) + 1) + "|",
            "| instances | " + " | ".join(str(others[m]["instances"]) for m in counts) + " |",
            "| score, mean | " + " | ".join(f"{others[m]['score']['mean']:.1e}" for m in counts) + " |",
            "| median | " + " | ".join(f"{others[m]['score']['median']:.1e}" for m in counts) + " |",
            "| worst | " + " | ".join(f"{others[m]['score']['worst']:.1e}" for m in counts) + " |",
            f"| ratio, percent of that at {trained} | " + " | ".join(f"{100 * shares[m]:.0f}" for m in counts) + " |", "",
            f"**Limits.** {LIMITS[problem]} Trained for the physics of its settings only (they are inside the file).", ""]
    (top / "crates/cinoc/models" / f"{problem}.md").write_text("\n".join(text))
    short = {"problem": problem, "ratio": float(f"{best['ratio']:.3e}"), "ratio_median": float(f"{best['ratio_median']:.3e}"), "agents": [low, high], "trained": trained, "seed": int(seed), "instances": best["instances"]}
    (top / "crates/cinoc/models" / f"{problem}.json").write_text(json.dumps(short) + "\n")
    print(f"{problem}: seed {seed}, ratio {best['ratio']:.2e}, {low} to {high} agents")


for problem in sys.argv[1:] or PROBLEMS:
    publish(problem)
