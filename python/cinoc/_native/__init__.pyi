"""The engine. `f32` and `f64` hold the same classes, in single and in double precision."""

from cinoc._native import f32 as f32
from cinoc._native import f64 as f64

__all__ = ["CinocError", "problems", "models", "f32", "f64"]

class CinocError(Exception):
    """A mistake that the engine explains; its sentence ends with what to do."""

def problems() -> list[tuple[str, str]]:
    """Name and one line about each problem."""

def models() -> list[str]:
    """Names of the trained policies that come with the package."""
