"""Any number of ranks, of either MPI, gives the bits of one process; a rank that crashes ends the job; a run resumes with any other number of ranks.

    python3 .ci/mpi.py FOLDER

FOLDER holds three builds of the program: `plain`, without MPI, `openmpi` and `mpich`.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

BUILDS = pathlib.Path(sys.argv[1]).resolve()
LAUNCH = {
    # More ranks than cores, as root, and four seconds until a signal is passed on and again until ranks are killed, instead of one.
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "--mca", "odls_base_sigkill_timeout", "4"],
    "mpich": ["mpirun.mpich"],
}
SETTINGS = ["physics.ticks=12", "train.batch=14", "train.shard=3", "train.validate_every=10", "train.validate_instances=19", "train.checkpoint_every=5"]
# A run of one process takes at least this number of seconds, however fast the machine is: it must not be over when a signal comes.
LONG = 20
# A test that hangs has failed.
PATIENCE = 200


def command(mpi, ranks, *arguments):
    launch = [] if mpi is None else [*LAUNCH[mpi], "-n", str(ranks)]
    return [*launch, str(BUILDS / (mpi or "plain")), *arguments]


def training(out, updates, more=()):
    changes = [word for change in [*SETTINGS, f"train.updates={updates}"] for word in ("--set", change)]
    return ["train", "heat1d", "--preset", "paper", "--threads", "1", "--out", str(out), *changes, *more]


def run(mpi, ranks, *arguments, code=0):
    done = subprocess.run(command(mpi, ranks, *arguments), capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode != 0) == (code != 0), f"{mpi}, {ranks} ranks, {arguments}: code {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def tensors(path):
    """Facts and numbers of a file, without what differs from run to run: the name of the event file, and the checksum over it."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    facts = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["cinoc"])
    return {key: value for key, value in facts.items() if key not in ("events", "checksum")}, content[8 + length :]


def files(run):
    whole = [(run / name).read_bytes() for name in ("model.safetensors", "last.safetensors", "metrics.csv", "config.toml")]
    return [*whole, tensors(run / "checkpoint.safetensors")]


def same(found, wanted, what):
    assert found == wanted, f"{what}: other bits than one process"
    print(f"  {what}: the same bits", flush=True)


def numbers(text):
    """What is reported, line by line, without times."""
    lines = [json.loads(line) for line in text.splitlines()]
    return [{key: value for key, value in line.items() if "seconds" not in key} for line in lines]


def filled(arguments, folder):
    """Arguments of a command that writes to a separate folder."""
    return [str(folder) if word == "FOLDER" else word for word in arguments]


def started(mpi, ranks, out, updates, update):
    """A run of `updates` that has come as far as a checkpoint at `update`."""
    log = open(f"{out}.log", "w+")
    job = subprocess.Popen(command(mpi, ranks, *training(out, updates)), stdout=log, stderr=subprocess.STDOUT, text=True, env={**os.environ, "CINOC_JOB": str(out)})
    deadline = time.time() + PATIENCE
    while time.time() < deadline:
        assert job.poll() is None, f"{mpi}: ended too soon\n{pathlib.Path(log.name).read_text()}"
        if (out / "checkpoint.safetensors").exists() and int(tensors(out / "checkpoint.safetensors")[0]["update"]) >= update:
            return job, log
        time.sleep(0.02)
    raise AssertionError(f"{mpi}: no progress")


def rank_process(out, rank):
    """The process of a rank of the job that works on `out`."""
    for process in pathlib.Path("/proc").iterdir():
        try:
            environment = (process / "environ").read_bytes().split(b"\0") if process.name.isdigit() else []
            program = os.readlink(process / "exe") if environment else ""
        except OSError:
            continue
        numbered = any(f"{name}={rank}".encode() in environment for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK"))
        if f"CINOC_JOB={out}".encode() in environment and numbered and pathlib.Path(program).parent == BUILDS:
            return int(process.name)
    raise AssertionError(f"no process of rank {rank}")


def ended(job, log, word, told):
    """Waits for the end of a job, which has said `word`, and whose launcher passes on that its ranks failed if it `told`."""
    since = time.time()
    assert job.wait(timeout=PATIENCE) != 0 or not told
    seconds = time.time() - since
    log.seek(0)
    text = log.read()
    assert word in text, f"{word!r} is not in:\n{text}"
    assert seconds < 20, f"took {seconds:.0f} s to end"
    print(f"  ended after {seconds:.1f} s", flush=True)


def check(mpi, folder, wanted):
    print(mpi, flush=True)
    # Five shards: two of seven ranks have none.
    for ranks in (1, 2, 3, 4, 7):
        out = folder / f"{mpi}-{ranks}"
        run(mpi, ranks, *training(out, 12))
        same(files(out), wanted["train"], f"training, {ranks} ranks")
    for name, arguments in wanted["commands"].items():
        for ranks in (1, 2, 3):
            done = run(mpi, ranks, *filled(arguments, folder / f"{mpi}-{ranks}-{name}"))
            same(numbers(done.stdout), wanted[name], f"{name}, {ranks} ranks")
    for title, ranks, stop, word, again in (
        ("killed", 3, lambda job, out: os.kill(rank_process(out, 1), signal.SIGKILL), "", 2),
        ("SIGTERM", 2, lambda job, out: job.send_signal(signal.SIGTERM), "Stopped and saved after", 4),
        ("SIGTERM to one rank", 3, lambda job, out: os.kill(rank_process(out, 2), signal.SIGTERM), "Stopped and saved after", 1),
    ):
        out = folder / f"{mpi}-{title.replace(' ', '-')}"
        job, log = started(mpi, ranks, out, wanted["updates"], 5)
        stop(job, out)
        # MPICH's launcher, if it is signalled itself, now and then gives 0 whatever its ranks gave.
        ended(job, log, word, told=(mpi, title) != ("mpich", "SIGTERM"))
        run(mpi, again, *training(out, wanted["updates"], more=["--resume"]))
        same(files(out), wanted["long"], f"{title} with {ranks} ranks, resumed with {again}")
    text = run(mpi, 3, *training(folder / "plain", 12), code=1).stderr
    assert text.count("already holds a run") == 1, f"once, not:\n{text}"
    text = run(mpi, 3, "train", "heat1d", "--set", "train.updates=-1", code=1).stderr
    assert text.count("cannot be") == 1, f"once, not:\n{text}"
    assert len(run(mpi, 3, "list").stdout.splitlines()) == len(run(None, 1, "list").stdout.splitlines())


def enough(folder):
    """How many updates take one process `LONG` seconds on this machine."""
    since, trial = time.time(), 300
    run(None, 1, *training(folder / "trial", trial))
    return round(trial * max(1, LONG / (time.time() - since)))


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run(None, 1, *training(folder / "plain", 12))
        updates = enough(folder)
        run(None, 1, *training(folder / "long", updates))
        wanted = {"train": files(folder / "plain"), "long": files(folder / "long"), "updates": updates}
        model = str(folder / "plain")
        wanted["commands"] = {
            "eval": ["eval", model, "--instances", "21", "--json"],
            "optimum": ["optimum", model, "--instances", "5", "--iterations", "20", "--json"],
            "failure": ["study", "failure", "heat1d", "--policies", model, "--instances", "11", "--json", "-o", "FOLDER"],
            "horizon": ["study", "horizon", "heat1d", "--policies", model, "--instances", "19", "--json", "-o", "FOLDER"],
        }
        for name, arguments in wanted["commands"].items():
            wanted[name] = numbers(run(None, 1, *filled(arguments, folder / name)).stdout)
        for mpi in LAUNCH:
            check(mpi, folder, wanted)
            launch = [*LAUNCH[mpi], "-n", "2", str(BUILDS / "plain"), *training(folder / "refused", 12)]
            refused = subprocess.run(launch, capture_output=True, text=True, timeout=PATIENCE)
            assert refused.returncode != 0 and refused.stderr.count("--features mpi") == 1, refused.stderr
            assert not (folder / "refused").exists()


main()
