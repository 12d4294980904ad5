#!/usr/bin/env python3
"""The best actions of small ks1d episodes by CasADi and IPOPT, compared with those of `cinoc optimum` from the same initial fields.

    cinoc optimum ks1d --for cost --instances 2 --set physics.nodes=64 --set physics.ticks=40 --tolerance 1e-5 --actions -o FILE.jsonl
    python3 peers/casadi/ks1d.py FILE.jsonl            (needs numpy and casadi: pip install casadi)

The same discretisation (Crank–Nicolson for the linear part, Euler for the rest, 2/3 rule), as matrices on the nodes; all fields and pushes are unknowns, the equation is a constraint (direct multiple shooting), Hessians are exact. One JSON line per instance.
"""
import json
import sys
import time
import tomllib

import numpy as np

try:
    import casadi as ca
except ImportError:
    sys.exit("SKIPPED: casadi is not installed, nothing was compared; install it with: pip install casadi")


def matrices(n, length, dt):
    """P, Q and D such that one step is z' = P z + Q (D z² + f)."""
    k = 2 * np.pi / length * np.fft.fftfreq(n, 1 / n)
    modes = np.abs(np.fft.fftfreq(n, 1 / n))
    odd = np.where(2 * modes == n, 0.0, k)
    symbol = k**2 - k**4
    below = 1 - 0.5 * dt * symbol

    def matrix(multiplier):
        return np.real(np.fft.ifft(multiplier[:, None] * np.fft.fft(np.eye(n), axis=0), axis=0))

    return matrix((1 + 0.5 * dt * symbol) / below), matrix(dt / below), matrix(-0.5j * odd * (3 * modes < n))


def bumps(places, n, length, sigma):
    """Forces of unit pushes of each agent, [n, agents]."""
    d = np.arange(n)[:, None] * length / n - np.asarray(places)[None, :]
    d -= length * np.round(d / length)
    return np.exp(-(d**2) / (2 * sigma**2))


class Case:
    def __init__(self, settings, places):
        physics, self.swarm, self.cost = settings["physics"], settings["swarm"], settings["cost"]
        self.n, self.ticks = physics["nodes"], physics["ticks"]
        self.p, self.q, self.d = matrices(self.n, physics["length"], physics["dt"])
        self.b = bumps(places, self.n, physics["length"], self.swarm["sigma"])

    def value(self, z, u, mean, square):
        """The cost of fields after each tick and pushes."""
        last = self.cost["last"] * mean(square(z[-1])) if self.cost["last"] else 0.0
        track = sum(mean(square(x)) for x in z) / self.ticks
        return self.cost["track"] * track + self.cost["effort"] * sum(mean(square(x)) for x in u) / self.ticks + last

    def rollout(self, start, pushes):
        z, fields = np.asarray(start, float), []
        for u in pushes:
            z = self.p @ z + self.q @ (self.d @ z**2 + self.b @ u)
            fields.append(z)
        return fields

    def replay(self, start, pushes):
        return float(self.value(self.rollout(start, pushes), pushes, np.mean, np.square))

    def solve(self, start, guess):
        """From an initial guess of pushes: the lowest cost, its pushes, IPOPT's iterations and status."""
        agents, limit = self.b.shape[1], self.swarm["u_limit"]
        z = [ca.MX.sym("z", self.n) for _ in range(self.ticks)]
        u = [ca.MX.sym("u", agents) for _ in range(self.ticks)]
        before, rows = ca.DM(start), []
        for after, push in zip(z, u):
            rows.append(after - ca.mtimes(self.p, before) - ca.mtimes(self.q, ca.mtimes(self.d, before**2) + ca.mtimes(self.b, push)))
            before = after
        mean = lambda x: ca.sum1(x) / x.shape[0]
        problem = {"x": ca.vertcat(*u, *z), "f": self.value(z, u, mean, lambda x: x**2), "g": ca.vertcat(*rows)}
        options = {"ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False, "ipopt.tol": 1e-9, "ipopt.max_iter": 2000}
        solver = ca.nlpsol("best", "ipopt", problem, options)
        first = np.concatenate([np.ravel(guess), np.ravel(self.rollout(start, guess))])
        bound = np.concatenate([np.full(self.ticks * agents, limit), np.full(self.ticks * self.n, np.inf)])
        found = solver(x0=first, lbx=-bound, ubx=bound, lbg=0, ubg=0)
        pushes = np.asarray(found["x"])[: self.ticks * agents, 0].reshape(self.ticks, agents)
        return float(found["f"]), pushes, solver.stats()["iter_count"], solver.stats()["return_status"]


def main(path):
    with open(path) as lines:
        settings = tomllib.loads(json.loads(next(lines))["settings"])
        found = [row for row in map(json.loads, lines) if "actions" in row]
    if not found:
        sys.exit(f"{path} has no actions; make it with `cinoc optimum ks1d --for cost --actions -o {path}`")
    for row in found:
        case = Case(settings, row["places"])
        ours = np.array(row["actions"], float).reshape(case.ticks, -1)
        replayed = case.replay(row["start"], ours)
        best = None
        for name, guess in [("zero", np.zeros_like(ours)), ("ours", ours)]:
            since = time.time()
            value, pushes, iterations, word = case.solve(row["start"], guess)
            seconds = time.time() - since
            # Constraints hold to a tolerance only: the cost is that of replayed pushes.
            value = case.replay(row["start"], np.clip(pushes, -case.swarm["u_limit"], case.swarm["u_limit"]))
            if best is None or value < best["ipopt"]:
                best = {"ipopt": value, "ipopt_from": name, "ipopt_iterations": iterations, "ipopt_seconds": round(seconds, 2), "ipopt_says": word}
        print(json.dumps({
            "instance": row["instance"], "nodes": case.n, "ticks": case.ticks, "ours": row["optimum"], "ours_replayed_in_f64": replayed,
            "ours_seconds": round(row["seconds"], 2), **best, "ours_over_ipopt": replayed / best["ipopt"],
        }))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
