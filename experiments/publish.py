"""Take the median seed of each problem as its published model: models/PROBLEM.safetensors with a card. Run after `experiments/all`."""
import json
import pathlib
import shutil

root = pathlib.Path(__file__).resolve().parent.parent
TRAINED = {"heat1d": 8, "fkpp1d": 20, "heat2d": 16, "heat2d_obstacles": 16, "ks1d": 8, "ks2d": 100, "turbulence2d": 64, "density2d": 9}
LIMITS = {
    "heat1d": "Fewer than three quarters of the trained agents cost more than a factor of 2.5. Good up to 32 agents; somewhere between 32 and 64 it breaks down.",
    "heat2d": "Good from 16 to 512 agents; twelve leave ten to twenty times the error of sixteen, eight far more.",
    "heat2d_obstacles": "Good from 16 to 512 agents; twelve leave about twenty times the error of sixteen. The safety layer keeps every number of agents out of the discs, also where these are elsewhere.",
    "ks1d": "Holds on longer rings with as many agents per length. Five or six agents on this ring leave growing waves that no agent feels.",
    "ks2d": "Holds on finer grids and with up to 784 agents; more were not tried. Fewer than ninety leave growing waves that they hardly feel.",
    "turbulence2d": "Fewer agents leave more: 49 less than twice, 36 three times the enstrophy. A policy trained for 64 agents alone (setting `sharp` of the results) leaves less than half as much with these.",
    "density2d": "Trained with the conservative scheme and the view of the whole field.",
    "fkpp1d": "Half the trained agents cost a factor of 3 to 30, depending on the seed. Good up to 100 agents; somewhere between 100 and 160 it breaks down.",
}


def rows(path):
    """The JSON lines of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


for problem, trained in TRAINED.items():
    folders = sorted((root / "results" / problem).glob("tuned-*"))
    ratio = lambda f: next(r["ratio"] for r in rows(f / "eval.jsonl") if r["agents"] == trained)
    median = sorted(folders, key=ratio)[len(folders) // 2]
    seed = median.name.split("-")[1]
    shutil.copy(root / "runs" / f"{problem}-tuned-{seed}" / "model.safetensors", root / "models" / f"{problem}.safetensors")
    train, table = json.loads((median / "train.json").read_text()), rows(median / "eval.jsonl")
    origin, fail = json.loads((median / "origin.json").read_text()), rows(median / "fail.jsonl")[0]
    base = next(r for r in table if r["agents"] == trained)
    text = [f"# {problem}", "",
            f"A policy for `{problem}`, trained with {trained} agents; the median of three seeds (seed {seed}).", "",
            f"- **Trained** by `cinoc train {problem} --seed {seed}` at commit {origin['commit']}, {train['seconds']:.0f} s on {origin['machine']}; "
            f"the parameters are those after {train['best_update']} of {train['updates']} updates, the best on validation instances.",
            f"- **Score** on {base['instances']} held-out instances: {base['score']['mean']:.2e} (median {base['score']['median']:.2e}, standard deviation {base['score']['std']:.2e}), "
            f"uncontrolled {base['uncontrolled']['mean']:.3f}, ratio {base['ratio']:.2e}.",
            f"- **Failures**: with 30 % of the agents dying halfway the score is {fail['score']['mean']:.2e} (median {fail['score']['median']:.2e}).",
            f"- **Again**: `cinoc eval {problem} --seed 1000 --agents {','.join(str(r['agents']) for r in table)}` and `cinoc eval {problem} --seed 1000 --fail 0.3`.", "",
            "Other numbers of agents, without training:", "",
            "| agents | " + " | ".join(str(r["agents"]) for r in table) + " |", "|---" * (len(table) + 1) + "|",
            "| score | " + " | ".join(f"{r['score']['mean']:.1e}" for r in table) + " |",
            f"| ratio, percent of that at {trained} | " + " | ".join(f"{100 * r['ratio'] / base['ratio']:.0f}" for r in table) + " |", "",
            f"**Limits.** {LIMITS[problem]} Trained for the physics of its settings only (they are inside the file).", ""]
    (root / "models" / f"{problem}.md").write_text("\n".join(text))
    print(f"{problem}: seed {seed}, ratio {base['ratio']:.2e}")
