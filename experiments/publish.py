"""Models that come with the program and the figures it knows of them: crates/cinoc/models/PROBLEM.{safetensors,json},
and PROBLEM-sharp.*.

    python3 experiments/publish.py [PROBLEM…]

Of the runs of a recipe the one with the lowest score on its validation instances is published; test instances have
no say in it. Where its run is not in runs/, the parameters stay as they are. Cards (PROBLEM.md) are blocks: python3
experiments/report.py.
"""

import argparse
import json
import shutil

from blocks.models import facts, shipped
from cases import MODELS, PROBLEMS, SHIPPED, run_folder, shipped_name


def publish(problem, setting):
    """One model."""
    name = shipped_name(problem, setting).replace(":", "-")
    best, path = shipped(problem, setting), MODELS / f"{name}.safetensors"
    run = run_folder(best["run"]) / "model.safetensors"
    if run.exists():
        shutil.copyfile(run, path)
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        seed = json.loads(json.loads(file.read(length))["__metadata__"]["cinoc"])["seed"]
    if int(seed) != best["seed"]:
        raise SystemExit(
            f"{name}: the model is of seed {seed}, but {best['seed']} is to be published; python3 experiments/archive.py fetch {best['run']}"
        )
    known = facts(problem, setting)
    (MODELS / f"{name}.json").write_text(json.dumps(known) + "\n")
    print(
        f"{name}: seed {best['seed']}, relative error {known['ratio']:.2e}, {known['agents'][0]} to {known['agents'][1]} agents"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", choices=[[], *PROBLEMS], metavar="PROBLEM")
    for problem in parser.parse_args().problems or PROBLEMS:
        for setting in SHIPPED:
            if shipped_name(problem, setting) and shipped(problem, setting):
                publish(problem, setting)


if __name__ == "__main__":
    main()
