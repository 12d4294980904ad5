"""Calls, and what is fine of what they raise."""

from __future__ import annotations

import collections
import contextlib
import faulthandler
import re
import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import Any, Callable

import gymnasium

import cinoc

from .limits import LIMIT

FINE = (
    cinoc.CinocError, ValueError, TypeError, KeyError, IndexError, RuntimeError, OverflowError, AttributeError, MemoryError, NotImplementedError,
    gymnasium.error.Error,
)


class Fault(BaseException):
    """Something that must not be."""


def normal(text: str) -> str:
    """A message without what differs from case to case."""
    text = re.sub(r"0x[0-9a-f]+", "0x…", text)
    text = re.sub(r"/tmp/[^\s'\"]*", "/tmp/…", text)
    text = re.sub(r"\([\d, ]+\)", "(#)", text)
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", text)[:300]


class Calls:
    """The calls of a worker."""

    def __init__(self, log: Any) -> None:
        self.log = log
        self.calls = self.returned = 0
        self.said: collections.Counter[str] = collections.Counter()
        self.slowest: list[tuple[float, str]] = []
        self.lock = threading.Lock()
        self.interrupts = False
        self.scene = self.last = ""

    def call(self, f: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        """What a call gives; None where it raised what it may."""
        name = getattr(f, "__qualname__", None) or type(f).__name__
        main = threading.current_thread() is threading.main_thread()
        if main:
            self.watch()
        begun = time.monotonic()
        try:
            with warnings.catch_warnings() if main else contextlib.nullcontext():
                if main:
                    warnings.simplefilter("ignore")
                found = f(*arguments, **more)
            self.returned += 1
            return found
        except BaseException as error:
            self.judge(name, error)
            return None
        finally:
            took = time.monotonic() - begun
            self.calls += 1
            if main:
                faulthandler.cancel_dump_traceback_later()
            if took > 5.0:
                self.slowest.append((round(took, 1), f"{self.scene}: {name}"))

    def must(self, f: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        """A call that has to succeed."""
        found = self.call(f, *arguments, **more)
        if found is None:
            raise Fault(f"{getattr(f, '__qualname__', f)} of {arguments} {more} should have given something: {self.last}")
        return found

    def read(self, thing: Any, *names: str) -> None:
        """Attributes of a thing."""
        for name in names:
            self.call(getattr, thing, name)

    def watch(self, seconds: float = LIMIT) -> None:
        """From now on the worker ends after this time, unless the watch is cancelled."""
        faulthandler.dump_traceback_later(seconds, exit=True, file=self.log)

    def judge(self, name: str, error: BaseException) -> None:
        """Notes what was said, and raises what must not be."""
        if isinstance(error, Fault):
            raise error
        interrupt, text = isinstance(error, KeyboardInterrupt), str(error)
        self.last = repr(error)
        if interrupt and not self.interrupts:
            raise Fault(f"{name}: KeyboardInterrupt without a signal")
        self.note(error)
        if interrupt:
            return
        whole = "".join(traceback.format_exception(error))
        if "PanicException" in whole or "fault of cinoc" in text or not isinstance(error, FINE):
            raise Fault(f"{name}: {whole}")
        if not text.strip() and not isinstance(error, MemoryError):
            raise Fault(f"{name}: an exception without a sentence: {whole}")

    def note(self, error: BaseException) -> None:
        """Counts a message, with the place it comes from."""
        *_, (frame, line) = traceback.walk_tb(error.__traceback__)
        file = Path(frame.f_code.co_filename)
        place = "native" if file.parent == Path(__file__).parent else f"{'/'.join(file.parts[-2:])}:{line}"
        with self.lock:
            self.said[f"{type(error).__name__} [{place}] {normal(str(error))}"] += 1
