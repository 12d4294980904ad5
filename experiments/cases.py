"""The one list of problems, settings, seeds and published numbers, and how `cinoc` is called.

Every experiment, table and picture reads this file. Local files of experiments are in runs/, committed tables in
results/ (tables.py).
"""

import dataclasses
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = ROOT / "runs"
MODELS = ROOT / "crates/cinoc/models"

SEEDS = (0, 1, 2)
MORE_SEEDS = (3, 4)
"""Further training seeds of MORE, whose scores show how far the mean of the first three is to be trusted."""
TEST_SEED = 5000
"""Instances of the published test; nothing was chosen on them."""
STUDY_SEED = 4000
EARLIER_SEED = 3000
"""Instances of best and last weights, optima, discs elsewhere and large fields."""
FAILURES = 0.3
"""Share of the agents that fail halfway in the test, rounded to whole agents."""


@dataclasses.dataclass(frozen=True)
class Paper:
    """Published figures of P. Zanotta et al., arXiv:2605.25867."""

    scores: dict[str, float]
    """Score of each method in its table "Multi-Agent Control Performance Across Tasks"."""
    spread: float
    """The ± of the CINOC score: two standard deviations over the instances."""
    instances: int
    half_digit: float
    """Half a unit of the last printed digit of that score."""
    uncontrolled: float
    agents: tuple[int, int, int] | None
    """Lowest and highest number of agents within 250 % of the error at the trained number, and that number."""
    agents_instances: int
    """Instances on which that range was found."""


@dataclasses.dataclass(frozen=True)
class Problem:
    """A problem in the experiments."""

    agents: int
    score: str
    paper: Paper
    sensor_noise: float = 0.01
    """A hundredth of the field's size, in the test."""
    actuator_noise: float = 0.4
    """A hundredth of the largest push or velocity, in the test."""
    chaotic: bool = False
    study_updates: int = 0
    """Updates of policies that a study trains: a quarter of the recipe's."""
    optimum: tuple[int, int] = (1, 100)
    """Instances and iterations of the search for the best actions."""

    @property
    def instances(self):
        """Instances of the test."""
        return 50 if self.chaotic else 200


METHODS = ("ppo", "td3", "mappo", "matd3", "dpc", "cinoc")


def paper(scores, *rest):
    """Published figures; scores in the order of METHODS."""
    return Paper(dict(zip(METHODS, scores, strict=True)), *rest)


PROBLEMS = {
    "heat1d": Problem(
        8,
        "error at the end",
        paper((0.016, 0.006, 0.001, 0.016, 7.9e-5, 2.9e-4), 4.3e-4, 50, 0.05e-4, 0.390, (15, 120, 30), 1),
        study_updates=400,
        optimum=(4, 300),
    ),
    "fkpp1d": Problem(
        20,
        "error at the end",
        paper((0.053, 0.010, 0.004, 0.022, 1.4e-4, 4.6e-5), 7.5e-5, 50, 0.05e-5, 0.103, (20, 150, 30), 1),
        study_updates=200,
        optimum=(4, 400),
    ),
    "heat2d": Problem(
        16,
        "error at tick 100",
        paper((0.015, 0.009, 0.006, 0.022, 2.1e-4, 1.5e-4), 1.8e-4, 50, 0.05e-4, 0.176, (16, 256, 16), 1),
        study_updates=500,
        optimum=(4, 400),
    ),
    "heat2d_obstacles": Problem(
        16,
        "error at tick 100",
        paper((0.016, 0.012, 0.004, 0.015, 2.7e-4, 1.2e-4), 1.7e-4, 50, 0.05e-4, 0.176, None, 0),
        study_updates=300,
        optimum=(2, 300),
    ),
    "ks1d": Problem(
        8,
        "mean energy",
        paper((0.13, 0.13, 0.13, 0.18, 0.16, 0.13), 0.12, 100, 0.005, 1.45, (15, 90, 30), 5),
        0.013,
        0.01,
        True,
        75,
        (8, 300),
    ),
    "ks2d": Problem(
        100,
        "energy at the end",
        paper((12.96, 1.66, 0.50, 0.91, 9.74, 0.37), 0.19, 20, 0.005, 13.91, (144, 256, 196), 2),
        0.035,
        0.1,
        True,
        40,
        (2, 80),
    ),
    "turbulence2d": Problem(
        64,
        "enstrophy at the end",
        paper((34.52, 5.57, 4.48, 3.71, 3.28, 3.23), 2.22, 20, 0.005, 50.49, (36, 1024, 64), 5),
        0.07,
        0.75,
        True,
        30,
        (2, 60),
    ),
    "density2d": Problem(
        9,
        "error at the end",
        paper((0.005, 0.021, 0.008, 0.021, 0.002, 0.002), 0.002, 50, 0.0005, 0.027, (4, 1024, 16), 5),
        0.01,
        0.008,
        study_updates=125,
        optimum=(2, 200),
    ),
}


@dataclasses.dataclass(frozen=True)
class Setting:
    """A way to train: a preset of the program and what is changed in it."""

    title: str
    preset: str
    changes: tuple[str, ...] = ()
    problems: tuple[str, ...] = tuple(PROBLEMS)
    cost: str = ""
    """The setting whose cost is minimised instead of that of the preset: shipped or paper."""


# Problems on which a run of the paper's setting takes minutes: on the others its windows and convolutions take one
# (heat2d) to five hours (turbulence2d) of a core for its 500 updates. There it was trained with our cost only, and with
# as many updates as fit into about a quarter of an hour.
SMALL = ("heat1d", "fkpp1d", "ks1d", "density2d")
SHORT = {"heat2d": 160, "heat2d_obstacles": 100, "ks2d": 40, "turbulence2d": 25}

SETTINGS = {
    "robust": Setting("**CINOC**, robust (default)", "robust"),
    "tuned": Setting("**CINOC**, sharp", "tuned"),
    "paper": Setting("CINOC, the paper's setting", "paper", problems=SMALL),
    "centralised": Setting("DPC (centralised)", "paper", ('policy.kind="centralised"',)),
    # Costs exchanged: ours, which contains the score, with the paper's policy and DPC; the paper's with our recipe.
    "paper-scored": Setting("CINOC, the paper's setting, our cost", "paper", cost="shipped"),
    "centralised-scored": Setting("DPC, our cost", "paper", ('policy.kind="centralised"',), cost="shipped"),
    "tuned-unscored": Setting("**CINOC**, sharp, the paper's cost", "tuned", cost="paper"),
    "noisy": Setting(
        "CINOC, the paper's setting with noise",
        "paper",
        ("swarm.sensor_noise=0.01", "swarm.actuator_noise=0.02"),
        ("heat1d", "fkpp1d"),
    ),
    # The paper's number of agents, and the effort weights of its study of transfer.
    "paper-30": Setting("CINOC, the paper's setting, 30 agents", "paper", ("swarm.agents=30",), ("heat1d",)),
    "paper-30-low": Setting(
        "CINOC, the paper's setting, 30 agents, λ = 0.005", "paper", ("swarm.agents=30", "cost.effort=0.005"), ("heat1d",)
    ),
    "paper-30-high": Setting(
        "CINOC, the paper's setting, 30 agents, λ = 0.05", "paper", ("swarm.agents=30", "cost.effort=0.05"), ("heat1d",)
    ),
}
# Runs that are not published although their validation score is the lowest: the linear stability analysis, which sees no
# instance, finds that disturbances grow with 32 agents (results/stability.jsonl, run margins-withheld).
WITHHELD = ("heat1d/robust-2",)
TESTED = ("robust", "tuned", "paper", "centralised", "paper-scored", "centralised-scored", "tuned-unscored")
# Costs exchanged between the recipes.
EXCHANGED = ("paper-scored", "centralised-scored", "tuned-unscored")
# Problems and settings with further training seeds.
MORE = (("heat1d", "tuned"), ("fkpp1d", "tuned"), ("ks1d", "tuned"), ("ks1d", "robust"), ("heat1d", "robust"))
# Settings of shipped models.
SHIPPED = ("robust", "tuned")

# Names of results/baselines.jsonl.
LEARNERS = {
    "ppo": "PPO (SB3)",
    "td3": "TD3 (SB3)",
    "mappo": "MAPPO (TorchRL)",
    "matd3": "MATD3 (TorchRL)",
    "mappo-deeponet": "MAPPO, DeepONet",
    "matd3-deeponet": "MATD3, DeepONet",
    "cinoc": "CINOC on one core, same budget",
}

# Studies with trained policies, and those that train their own.
STUDIES_USED = ("cardinality", "failure", "physics", "resolution", "domain", "horizon", "meanfield", "stability")
# The scorecard is that of the robust policies.
STUDIES_ROBUST = ("robust",)
STUDIES_TRAINED = ("noise", "delay", "positions", "view", "effort")
# Earlier names of studies on the command line.
EARLIER_WORDS = {"positions": "places"}


def run_name(problem, setting, seed):
    """The name of a training run in the tables."""
    return f"{problem}/{setting}-{seed}"


def shipped_name(problem, setting):
    """Name of a shipped model, none if this setting has none; its file has - in place of the colon."""
    return {"robust": problem, "tuned": f"{problem}:sharp"}.get(setting)


def run_folder(name):
    """Local folder of a training run."""
    return RUNS / name.replace("/", "-")


def model(name):
    """Local model file of a training run; exits with a hint if it is missing."""
    path = run_folder(name) / "model.safetensors"
    if not path.exists():
        problem, _, rest = name.partition("/")
        setting, _, seed = rest.rpartition("-")
        sys.exit(
            f"{path.relative_to(ROOT)} is missing; get it by  python3 experiments/archive.py fetch {name}  "
            f"or make it by  python3 experiments/train.py {problem} --setting {setting} --seed {seed}"
        )
    return path


def program():
    """The `cinoc` that experiments use: CINOC_BIN, else the one on the path."""
    return os.environ.get("CINOC_BIN", "cinoc")


def cinoc(*words, diverging=False):
    """The JSON objects that a command prints. An evaluation of which all episodes diverge prints its row and fails;
    with `diverging` it may."""
    done = subprocess.run([program(), *map(str, words), "--json"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
    if done.returncode and not (diverging and rows and all(row.get("diverged") for row in rows)):
        sys.exit(f"failed: cinoc {' '.join(map(str, words))}")
    return rows


def training_changes(problem, how):
    """Changes of settings of a way to train, with the weights of another cost where it has one."""
    cost = {}
    if how.cost:
        (settings,) = cinoc("list", problem, *(("--paper",) if how.cost == "paper" else ()))
        cost = settings["cost"]
    few = (f"train.updates={SHORT[problem]}",) if problem in SHORT and how == SETTINGS["paper-scored"] else ()
    return (*how.changes, *few, *(f"cost.{key}={value}" for key, value in cost.items()))


def changes(settings):
    """Options that change settings."""
    return [word for change in settings for word in ("--set", change)]


def commit():
    """Commit of the source tree."""
    return subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True
    ).stdout.strip()


def today():
    """The date, for a table."""
    return time.strftime("%F", time.gmtime())


def machine():
    """Processor and number of cores."""
    names = [
        line.split(":")[1].strip()
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return f"{names[0] if names else 'unknown'}, {os.cpu_count()} cores"


def computing():
    """CPU seconds of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
