"""Classical controllers on the instances of the test: results/classical.jsonl.

    python3 experiments/classical.py [PROBLEM…]

- `lqr`: linear-quadratic regulators of the whole field, which know the equation (`cinoc design`). Agents stand. The
  weight of the effort is chosen for each case, on instances of seed 1000 with the disturbance of the case.
- `pi`, `p`: local proportional feedback with feed-forward of the target, with an integral or without
  (`policy.kind = "pi"`); gains are trained with the sharp recipe and its cost, one seed.

A controller that has been recorded for a case is kept.
"""

import argparse

from cases import PROBLEMS, RUNS, TEST_SEED, changes, cinoc, commit
from tables import put, read

# Problems with a regulator, and the weights of the effort that are tried: all by default.
WEIGHTS = {"heat1d": (), "ks1d": (), "heat2d": (1e-7, 1e-6, 1e-5, 1e-4)}
LOCAL = {"pi": (), "p": ("policy.integral=false",)}
"""Names of trained controllers and their settings."""


def cases(problem):
    """Words, changes of settings and number of agents of each case."""
    about = PROBLEMS[problem]
    noise = f"swarm.sensor_noise={about.sensor_noise}"
    yield "undisturbed", (), about.agents
    yield "noise 0.01", (noise,), about.agents
    yield "delay 2", ("swarm.delay=2",), about.agents
    yield "noise 0.01, delay 5", (noise, "swarm.delay=5"), about.agents
    yield "half the agents", (), about.agents // 2
    yield "twice the agents", (), 2 * about.agents


def score(problem, controller, case, model, settings, agents, **more):
    """Adds the score of a model in a case."""
    (row,) = cinoc("eval", model, "--seed", TEST_SEED, "--agents", agents, *changes(settings))
    row.pop("model")
    run = f"{problem}/{controller}"
    line = {"run": run, "commit": commit(), "controller": controller, "case": case, **more, **row}
    put("classical", [line], run=run, case=case)
    print(f"{run}, {case}: relative error {row['ratio']:.3g}", flush=True)


def regulator(problem):
    """Linear-quadratic regulators."""
    for case, settings, agents in cases(problem):
        if read("classical", run=f"{problem}/lqr", case=case):
            continue
        file = RUNS / f"{problem}-lqr.safetensors"
        RUNS.mkdir(exist_ok=True)
        weights = ("--effort", ",".join(map(str, WEIGHTS[problem]))) if WEIGHTS[problem] else ()
        change = changes((*settings, f"swarm.agents={agents}"))
        (chosen,) = cinoc("design", problem, *change, *weights, "--out", file)
        score(problem, "lqr", case, file, settings, agents, effort_weight=chosen["effort"])


def local(problem):
    """Proportional and integral feedback."""
    for name, settings in LOCAL.items():
        run, folder = f"{problem}/{name}", RUNS / f"{problem}-{name}"
        missing = [one for one in cases(problem) if not read("classical", run=run, case=one[0])]
        if missing and not (folder / "model.safetensors").exists():
            cinoc("train", problem, *changes(('policy.kind="pi"', *settings)), "--out", folder)
        for case, disturbance, agents in missing:
            score(problem, name, case, folder, disturbance, agents)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", choices=[[], *WEIGHTS], metavar="PROBLEM")
    for problem in parser.parse_args().problems or WEIGHTS:
        regulator(problem)
        local(problem)


if __name__ == "__main__":
    main()
