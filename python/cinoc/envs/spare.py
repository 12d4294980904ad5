"""Arrays that are used again."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Spare:
    """Arrays like a given one, each handed out again once no one else holds it or a view of it.

    A caller may keep what it gets, as with a new array. Most do not, and a new array of hundreds of kilobytes costs more than filling it: its
    pages come from the system and go back with every step.
    """

    most = 4

    def __init__(self, like: NDArray[Any]) -> None:
        self._arrays = [np.empty_like(like)]
        # References that this pool itself holds when it asks.
        self._own = sys.getrefcount(self._arrays[0])

    def take(self) -> NDArray[Any]:
        """An array without other references, with arbitrary numbers in it."""
        arrays = self._arrays
        for i in range(len(arrays)):
            if sys.getrefcount(arrays[i]) == self._own:
                return arrays[i]
        array = np.empty_like(arrays[0])
        if len(arrays) < self.most:
            arrays.append(array)
        return array
