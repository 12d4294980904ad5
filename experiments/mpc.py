"""Model-predictive control of heat1d with limits: rows `mpc` of results/classical.jsonl.

    python3 experiments/mpc.py [CASE…]

Needs the Python package, SciPy and OSQP (pip install scipy osqp). In every tick a quadratic programme of the pushes of
the next 20 ticks: squared error and effort as of the regulator (`cinoc design`), |u| within its limit, and after them the
regulator's own cost to go. It reads the whole field, knows the equation and predicts the field over the delay; its agents
do not move. The weight of the effort is chosen on 32 instances of seed 1000. A programme whose solution without limits
keeps them is not solved again.
"""

import sys

import numpy as np

from cases import TEST_SEED, commit
from tables import put

try:
    import osqp
    import scipy.linalg
    import scipy.sparse
    from cinoc.envs.batch import Batch
except ImportError as missing:
    sys.exit(f"SKIPPED: {missing}; nothing was computed. Install the Python package, SciPy and OSQP")

NODES, TICKS, NU, TICK, WIDTH, LIMIT = 100, 300, 0.2, 1e-3, 0.1, 40.0
AHEAD = 20
WEIGHTS = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7)
INSTANCES, CHOOSING = 200, (1000, 32)
CASES = {
    "undisturbed": (8, 0),
    "delay 2": (8, 2),
    "delay 5": (8, 5),
    "half the agents": (4, 0),
    "twice the agents": (16, 0),
}


class Plant:
    """One tick on the inner nodes, z' = A·z + B·u, by Crank–Nicolson."""

    def __init__(self, positions):
        x = np.linspace(0, 1, NODES)
        n, r = NODES - 2, 0.5 * NU * TICK / x[1] ** 2
        second = np.diag(np.full(n, -2.0)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
        implicit = np.eye(n) - r * second
        push = np.exp(-((x[1:-1, None] - positions) ** 2) / (2 * WIDTH**2))
        self.a = np.linalg.solve(implicit, np.eye(n) + r * second)
        self.b = np.linalg.solve(implicit, TICK * push)


class Controller:
    """The programme of a horizon: half of u'Hu plus (F·z − G·z*)'u."""

    def __init__(self, plant, weight):
        a, b = plant.a, plant.b
        n, m = b.shape
        error, effort = np.eye(n) / NODES, weight / m * np.eye(m)
        rest = scipy.linalg.solve_discrete_are(a, b, error, effort)
        closed = a - b @ np.linalg.solve(b.T @ rest @ b + effort, b.T @ rest @ a)
        towards = np.linalg.solve(np.eye(n) - closed.T, error)
        powers = [np.eye(n)]
        for _ in range(AHEAD):
            powers.append(a @ powers[-1])
        zero = np.zeros((n, m))
        ahead = [np.hstack([powers[k - 1 - j] @ b if j < k else zero for j in range(AHEAD)]) for k in range(1, AHEAD + 1)]
        costs = [error] * (AHEAD - 1) + [rest]
        self.h = sum(g.T @ q @ g for g, q in zip(ahead, costs, strict=True)) + np.kron(np.eye(AHEAD), effort)
        self.f = sum(g.T @ q @ powers[k + 1] for k, (g, q) in enumerate(zip(ahead, costs, strict=True)))
        self.g = sum(g.T @ q for g, q in zip(ahead, [error] * (AHEAD - 1) + [towards], strict=True))
        self.free = np.linalg.inv(self.h)
        self.solver = osqp.OSQP()
        size = AHEAD * m
        self.solver.setup(
            scipy.sparse.csc_matrix(np.triu(self.h) / self.h[0, 0]), np.zeros(size), scipy.sparse.eye(size, format="csc"),
            -LIMIT * np.ones(size), LIMIT * np.ones(size), eps_abs=1e-6, eps_rel=1e-6, max_iter=20000, verbose=False,
        )
        self.limited = 0

    def pushes(self, fields, targets):
        """Pushes of this tick for fields and targets, a row each."""
        linear = fields @ self.f.T - targets @ self.g.T
        plans = -linear @ self.free.T
        for i in np.flatnonzero((np.abs(plans) > LIMIT).any(1)):
            self.limited += 1
            self.solver.update(q=linear[i] / self.h[0, 0])
            plans[i] = np.clip(self.solver.solve().x, -LIMIT, LIMIT)
        return plans[:, : self.h.shape[0] // AHEAD]


def episodes(agents, delay, weight, seed, instances):
    """Scores of instances, controlled (uncontrolled without a weight), and the share of programmes with active limits."""
    batch = Batch(
        "heat1d", instances, agents=agents, set={"swarm.crowd": 0.0, "swarm.delay": delay}, observation="global", stream="test"
    )
    batch.seed([seed] * instances, np.random.default_rng, index=np.arange(instances))
    batch.reset()
    plant = Plant(batch.positions()[0, :, 0].astype(float))
    controller = weight and Controller(plant, weight)
    targets = batch.targets()[:, 1:-1].astype(float)
    waiting = [np.zeros((instances, agents))] * delay
    actions = np.zeros((instances, agents, 2), np.float32)
    for _ in range(TICKS):
        fields = batch.fields()[:, 1:-1].astype(float)
        if controller:
            for pushes in waiting:
                fields = fields @ plant.a.T + pushes @ plant.b.T
            waiting = [*waiting, controller.pushes(fields, targets)]
            actions[..., 0] = waiting[-1] / LIMIT
            waiting = waiting[1:]
        batch.step(actions)
    scores = batch.infos()["score"]
    return scores, controller.limited / (TICKS * instances) if controller else 0.0


def main():
    for case in sys.argv[1:] or CASES:
        agents, delay = CASES[case]
        tried = {weight: episodes(agents, delay, weight, *CHOOSING)[0].mean() for weight in WEIGHTS}
        weight = min(tried, key=tried.get)
        scores, limited = episodes(agents, delay, weight, TEST_SEED, INSTANCES)
        free, _ = episodes(agents, delay, None, TEST_SEED, INSTANCES)
        draws = np.random.default_rng(0).integers(INSTANCES, size=(2000, INSTANCES))
        low, high = np.quantile(scores[draws].mean(1) / free[draws].mean(1), (0.025, 0.975))
        line = {"run": "heat1d/mpc", "commit": commit(), "controller": "mpc", "case": case, "effort_weight": weight}
        line |= {"problem": "heat1d", "agents": agents, "instances": INSTANCES, "seed": TEST_SEED, "limited": limited}
        line |= {"score": {"mean": scores.mean()}, "uncontrolled": {"mean": free.mean()}}
        line |= {"ratio": scores.mean() / free.mean(), "ratio_95": [low, high]}
        put("classical", [line], run="heat1d/mpc", case=case)
        print(f"{case}: relative error {line['ratio']:.3g}, limits active in {limited:.2%} of the ticks, weight {weight:g}")


if __name__ == "__main__":
    main()
