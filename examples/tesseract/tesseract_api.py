"""An episode of cinoc as a Tesseract: fields, places and actions in, what they lead to and what it costs out, with the solver's own derivatives.

Everything is in double precision and as the Python package has it: start and target [n, nodes…], places [n, agents, axes], actions
[ticks, n, agents, k] in the units of the actuators.
"""

from functools import lru_cache
from typing import Any

import cinoc
import numpy as np
from cinoc.engine import Given
from pydantic import BaseModel, Field, model_validator
from tesseract_core.runtime import Array, Differentiable, Float64

# By what, and of what, there are derivatives.
INPUTS = ("start", "places", "actions")
OUTPUTS = ("z", "xi", "cost")


class InputSchema(BaseModel):
    """An episode that is driven by given actions."""

    problem: str = Field("heat1d", description="Name of the problem; `cinoc list` has all.")
    settings: dict[str, str | int | float | bool] = Field({}, description='Settings to change, like {"physics.nu": 0.3}.')
    start: Differentiable[Array[..., Float64]] = Field(description="Fields at the start, [n, nodes…].")
    target: Array[..., Float64] = Field(description="Fields to be reached, [n, nodes…].")
    places: Differentiable[Array[(None, None, None), Float64]] = Field(description="Where agents start, [n, agents, axes].")
    actions: Differentiable[Array[(None, None, None, None), Float64]] = Field(description="What they do, [ticks, n, agents, k].")

    @model_validator(mode="after")
    def fits(self) -> "InputSchema":
        """Refuses shapes that do not fit the problem, in the engine's words."""
        plan(self)
        return self


class OutputSchema(BaseModel):
    """What the actions led to."""

    z: Differentiable[Array[..., Float64]] = Field(description="Fields after each tick, the start first, [ticks+1, n, nodes…].")
    xi: Differentiable[Array[(None, None, None, None), Float64]] = Field(description="Places of the agents, [ticks+1, n, agents, axes].")
    cost: Differentiable[Array[(None,), Float64]] = Field(description="What each episode cost, [n].")


@lru_cache(maxsize=8)
def made(problem: str, settings: tuple[tuple[str, Any], ...]) -> cinoc.Problem:
    """Building a problem takes longer than a short episode."""
    return cinoc.make(problem, set=dict(settings), dtype="float64")


def plan(inputs: Any) -> Given:
    """The episode, ready to be computed; of arrays, or of their shapes alone."""
    problem = made(inputs.problem, tuple(sorted(inputs.settings.items())))
    target = inputs.target if isinstance(inputs.target, np.ndarray) else np.zeros(inputs.target.shape)
    try:
        return Given(problem, None, target, None, None, 0, tuple(inputs.places.shape[:2]), tuple(inputs.actions.shape), 1)
    except cinoc.CinocError as error:
        raise ValueError(str(error)) from error


def run(inputs: InputSchema, gradient: bool) -> Any:
    """The engine's rollout."""
    given = {name: np.asarray(getattr(inputs, name)) for name in INPUTS}
    return plan(inputs).run(given | {"params": None, "previous": None}, gradient)


def apply(inputs: InputSchema) -> OutputSchema:
    """Rolls the episode out."""
    found = run(inputs, False)
    return OutputSchema(z=np.asarray(found.z), xi=np.asarray(found.xi), cost=np.asarray(found.cost))


def vector_jacobian_product(
    inputs: InputSchema, vjp_inputs: set[str], vjp_outputs: set[str], cotangent_vector: dict[str, Any]
) -> dict[str, Any]:
    """One forward pass and one backward sweep, however many inputs are asked for."""
    bars = {name: np.ascontiguousarray(cotangent_vector[name], np.float64) for name in vjp_outputs}
    found = run(inputs, True).backward(**bars)
    return {name: np.asarray(found[name]) for name in vjp_inputs}


def abstract_eval(abstract_inputs: Any) -> dict[str, Any]:
    """Shapes of the outputs, from those of the inputs."""
    z, xi, _, cost = plan(abstract_inputs).shapes()
    return {name: {"shape": shape, "dtype": "float64"} for name, shape in zip(OUTPUTS, (z, xi, cost), strict=True)}
