"""Double precision: the same classes as in `f32`."""

from cinoc._native.f32 import Env as Env
from cinoc._native.f32 import Policy as Policy
from cinoc._native.f32 import Problem as Problem
from cinoc._native.f32 import Rollout as Rollout
from cinoc._native.f32 import Snapshot as Snapshot
from cinoc._native.f32 import Training as Training
from cinoc._native.f32 import evaluate as evaluate

__all__ = ["Problem", "Policy", "Env", "Snapshot", "Rollout", "Training", "evaluate"]
