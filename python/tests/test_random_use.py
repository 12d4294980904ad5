"""Random use for a few seconds; `random_use/__init__.py` says more."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("gymnasium")
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits and forks as Linux has them")


def test_random_use(tmp_path):
    log = tmp_path / "log"
    command = [sys.executable, "-m", "random_use", "--minutes", "0.3", "--seed", "7", "--log", log]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:] + log.read_text(errors="replace")[-6000:]
    assert log.read_text(errors="replace").count("\nseed 7 case ") > 5
