"""Linear stability analysis against simulations, in double precision: results/stability.jsonl. About five minutes on a
core.

    python3 experiments/stability.py [pairs | long | margins]

`pairs` builds the example that prints predicted and simulated growth rates (STABILITY_EXAMPLE names another one);
`long` runs ks1d for ten times the episode from chaos and needs `cinoc` on the path, as `margins` does: gain and delay
margins and norms of default and sharp policies, in single precision, in some minutes.
"""

import argparse
import json
import os
import shlex
import subprocess

from cases import MODELS, ROOT, STUDY_SEED, cinoc, commit
from tables import put

# Problem, what is given, values, changes of settings: also policies that push two to four times as hard.
PAIRS = (
    ("ks1d", "spacing", (1.375, 1.6, 1.8333333, 2.2, 2.75, 3.1, 3.3, 3.6667, 4.4, 5.5), ()),
    ("ks2d", "spacing", (2.7, 3.2, 3.3731, 3.5556, 4.0), ()),
    ("heat1d", "agents", (4, 6, 8, 12, 16, 32), ()),
    *(("heat1d", "agents", (8, 16), (f"policy.output_gain={gain}",)) for gain in (2, 3, 4)),
    ("heat2d", "agents", (8, 16, 25), ()),
    *(("heat2d", "agents", (16,), (f"policy.output_gain={gain}",)) for gain in (2, 4)),
)
TICKS = 2000
# Problem, numbers of agents, share of failures.
MARGINS = (
    ("heat1d", "8,32", 0),
    ("heat2d", "16", 0),
    ("ks1d", "8,12", 0),
    ("ks1d", "8", 0.3),
    ("ks1d", "12", 0.3),
    ("ks2d", "100", 0),
)
BUILD = "cargo build --release --locked -p cinoc-double-tests --example stability"


def pairs():
    """Replaces all pairs."""
    example = os.environ.get("STABILITY_EXAMPLE")
    if not example:
        subprocess.run(shlex.split(BUILD), cwd=ROOT, check=True)
        example = str(ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release/examples/stability")
    lines = []
    for problem, given, values, settings in PAIRS:
        done = subprocess.run(
            [example, problem, given, *map(str, values), *settings],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        lines += map(json.loads, done.stdout.splitlines())
        print(f"{problem} {' '.join(settings)}", flush=True)
    put(
        "stability",
        [
            {"run": f"{line['problem']}/pair-{i}", "kind": "pair", "commit": commit(), **line}
            for i, line in enumerate(lines)
        ],
        kind="pair",
    )


def long():
    """Ten times the episode."""
    rows = cinoc(
        "eval",
        "ks1d",
        "--agents",
        "8,12,16",
        "--instances",
        12,
        "--seed",
        STUDY_SEED,
        "--set",
        f"physics.ticks={TICKS}",
    )
    for row in rows:
        row.pop("model")
    put(
        "stability",
        [
            {"run": f"ks1d/long-{row['agents']}", "kind": "long", "commit": commit(), "ticks": TICKS, **row}
            for row in rows
        ],
        kind="long",
    )


def margins(policies=("", ":sharp"), problems=()):
    """Margins and norms of default and sharp policies. Swarms that do not come to rest have none."""
    for setting in policies:
        name = f"margins{setting}"
        for problem in problems or dict.fromkeys(case[0] for case in MARGINS):
            policy, lines = f"{problem}{setting}", []
            for _, agents, fail in (case for case in MARGINS if case[0] == problem):
                failures = ("--fail", fail) if fail else ()
                try:
                    found = cinoc("stability", MODELS / f"{policy.replace(':', '-')}.safetensors", "--agents", agents, "--norms", *failures)
                except SystemExit:
                    print(f"{policy}, {agents} agents{f', {fail:.0%} failed' if fail else ''}: not analysed", flush=True)
                    continue
                lines += [{"policy": policy, "commit": commit(), **row} for row in found]
            put("stability", [{"run": name, "kind": "margins", **line} for line in lines], run=name, policy=policy)
            print(policy, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[[], "pairs", "long", "margins"])
    for what in parser.parse_args().what or ("pairs", "long", "margins"):
        {"pairs": pairs, "long": long, "margins": margins}[what]()


if __name__ == "__main__":
    main()
