"""What a worker may take."""

from __future__ import annotations

import resource

LIMIT = 60.0  # seconds of one call
SPACE = 6 << 30  # bytes of address space
MEGABYTES = 1500  # that the engine may take


def confine() -> None:
    """Limits of this process: its address space, and no core files."""
    resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
