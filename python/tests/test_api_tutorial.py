"""The tutorial and the first example run as they are."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]


def test_tutorial(tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("gymnasium")
    pytest.importorskip("jax")
    book = nbformat.read(HERE / "tutorial.ipynb", 4)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    pictures = [1 for cell in book.cells for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]
    assert len(pictures) == 5


def test_tutorial_is_committed_with_outputs():
    book = json.loads((HERE / "tutorial.ipynb").read_text())
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] for cell in code), "run it and save it with its outputs"
    assert sum("image/png" in output.get("data", {}) for cell in code for output in cell["outputs"]) == 5
    assert not any("native" in line for cell in code for line in cell["source"]), "a tutorial uses the public interface"


def test_quickstart(tmp_path):
    subprocess.run([sys.executable, HERE / "examples/quickstart.py"], cwd=tmp_path, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert (tmp_path / "heat1d.png").exists()
