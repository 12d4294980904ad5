"""The example of Stable-Baselines3's PPO."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("stable_baselines3")

EXAMPLE = Path(__file__).parents[1] / "examples" / "ppo.py"


def test_ppo_writes_its_curve(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLE), str(tmp_path), "--minutes", "0.05", "--every", "1", "--envs", "8"]
    subprocess.run(command, check=True, timeout=120, env=os.environ | {"OMP_NUM_THREADS": "1"})
    with (tmp_path / "curve.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) >= 2 and int(float(lines[-1]["steps"])) > 0 and float(lines[-1]["held_out_score"]) > 0
    assert all((tmp_path / name).stat().st_size > 0 for name in ("curve.png", "policy.zip", "normalise.pkl"))
