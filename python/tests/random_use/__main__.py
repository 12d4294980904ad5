"""The command line."""

from __future__ import annotations

import argparse
import sys

from . import __doc__ as about
from .driver import drive
from .limits import confine


def main() -> int:
    parser = argparse.ArgumentParser(prog="random_use", description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", default="random_use.log")
    parser.add_argument("--case", type=int, help="this case only")
    parser.add_argument("--only", help="this scene only")
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.worker:
        return drive(arguments)
    # The limits hold from the first import of cinoc on.
    confine()
    from .worker import work

    return work(arguments)


if __name__ == "__main__":
    sys.exit(main())
