"""Random use of everything public, right and wrong: `python -m random_use --minutes 60 --seed 1 --log FILE`, from python/tests.

A driver starts a worker, which writes the number of each case into the log before it begins; `--seed S --case N` runs that one again. Fine are
results and exceptions that say what to do. Faults are the end of the interpreter, a panic, "this is a fault of cinoc", a call without an end, a kind
of exception that is not expected, an exception without a sentence. The log ends with counts of all distinct messages, to be read.
"""
