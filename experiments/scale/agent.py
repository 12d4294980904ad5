#!/usr/bin/env python3
"""What one agent needs to run a shipped policy, from the model files: experiments/scale/agent.py > results/scale/agent.jsonl"""
import json
import math
import pathlib
import re
import struct

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"


def header(path):
    """Shapes of all tensors, and the settings, of a model file."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        tensors = json.loads(file.read(length))
    about = json.loads(tensors.pop("__metadata__")["cinoc"])
    return {name: tensor["shape"] for name, tensor in tensors.items()}, about["config"]


def setting(config, table, key):
    """A number from the settings, or none."""
    section = re.search(rf"^\[{table}\]\n(.*?)(?=^\[|\Z)", config, re.M | re.S)
    found = section and re.search(rf"^{key} = ([-+.\de]+)$", section[1], re.M)
    return found and float(found[1])


def needs(path):
    shapes, config = header(path)
    matrices = {name: shape for name, shape in shapes.items() if len(shape) == 2}
    parameters = sum(math.prod(shape) for shape in shapes.values())
    remembered = shapes["memory.w"][1]
    seen, known = shapes["branch0.w"][0], shapes["trunk0.w"][0]
    # What is seen, known and remembered, and at any time one layer's inputs and outputs: branch and trunk have to be kept for those behind.
    numbers = shapes["linear.w"][0] + known + shapes["branch1.w"][1] + shapes["trunk1.w"][1] + max(sum(shape) for shape in matrices.values())
    return {
        "problem": path.stem,
        "parameters": parameters,
        "parameter_bytes": 4 * parameters,
        "remembered": remembered,
        "working_bytes": 4 * numbers,
        "seen": seen,
        "known": known,
        "answers": shapes["out.w"][1],
        "flop_per_decision": sum(2 * math.prod(shape) for shape in matrices.values()),
        "window": setting(config, "observe", "window"),
        # Living agents nearer than this count as a crowd, and weaken a push.
        "crowd_radius": math.sqrt(6) * setting(config, "swarm", "sigma") * (setting(config, "swarm", "crowd_width") or 1.0),
        "domain": setting(config, "physics", "length"),
    }


if __name__ == "__main__":
    for model in sorted(MODELS.glob("*.safetensors")):
        print(json.dumps(needs(model)))
