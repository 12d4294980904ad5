"""Run what Markdown pages tell people to type: python3 .ci/readme_commands.py PAGE…

Every fenced block has a language. Blocks marked `sh` are run by bash and stop at the first failure; those marked `python` run after them, all in one
interpreter, so that a later one may use what an earlier one made; both in a temporary folder of the page, which has our `examples`, with the freshly built
`cinoc` first on the PATH and Python being that of $CINOC_PYTHON. Blocks marked `rust` must be found, word for word, in an example, which is compiled and run. Blocks marked `toml` must be a
file of examples/problems. Blocks marked `text` or `mermaid` are no code.

Lines that install something are left out, since the build has been done. A comment before a block changes more:

    <!-- not run in CI: WHY -->      it cannot be run here; WHY says what checks it instead
    <!-- in CI with: WORDS -->       WORDS are added to each `cinoc train` of the block, for a training of a few updates
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?:<!-- (not run in CI|in CI with)(?:: (.*?))? -->\s*)?^```(\w*)\n(.*?)^```$", re.S | re.M)
LANGUAGES = ("sh", "python", "rust", "toml", "text", "mermaid")
INSTALLS = ("git clone", "cd cinoc", "cargo install", "cargo build", "pip install", "apt-get install")


def call(command, folder):
    """One program; its failure is ours."""
    release = pathlib.Path(os.environ["CARGO_TARGET_DIR"]) / "release"
    environment = dict(os.environ, PATH=f"{release}{os.pathsep}{os.environ['PATH']}", MPLBACKEND="agg")
    subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=True)


def commands(block, words):
    """What is run of a block for bash."""
    lines = [line for line in block.splitlines() if not line.strip().startswith(INSTALLS)]
    if words:
        lines = [re.sub(r"^(cinoc train\b[^#]*?)(\s*(#.*)?)$", rf"\1 {words}\2", line) for line in lines]
    return "\n".join(lines)


def compiled():
    """All Rust that a page may quote: examples, and the compiled examples of the documentation without hidden lines."""
    files = [*ROOT.glob("examples/*/*/*.rs"), *ROOT.glob("crates/*/examples/*.rs")]
    texts = [path.read_text() for path in files]
    for path in ROOT.glob("crates/*/src/**/*.rs"):
        lines = [line.strip()[3:].removeprefix(" ") for line in path.read_text().splitlines() if line.strip().startswith(("//!", "///"))]
        texts.append("".join(line + "\n" for line in lines if not line.startswith("# ") or line.startswith("# #")))
    return "\n".join(texts)


def run(page):
    """All blocks of a page; how many ran."""
    count, python = 0, []
    print(f"--- {page}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "examples", pathlib.Path(folder) / "examples")
        for mark, words, language, block in BLOCK.findall((ROOT / page).read_text()):
            if language not in LANGUAGES:
                sys.exit(f"{page}: a block is marked {language!r}; mark it {', '.join(LANGUAGES)}:\n{block}")
            if mark and not words:
                sys.exit(f"{page}: a block is not run and does not say why: <!-- not run in CI: WHY -->\n{block}")
            if mark == "not run in CI" or language in ("text", "mermaid"):
                continue
            if language == "sh":
                call(["bash", "-euxo", "pipefail", "-c", commands(block, words)], folder)
            elif language == "python":
                python.append(block)
            elif language == "toml":
                if block not in [path.read_text() for path in ROOT.glob("examples/problems/*.toml")]:
                    sys.exit(f"{page}: no file of examples/problems is\n{block}")
            elif block not in compiled():
                sys.exit(f"{page}: no example has\n{block}")
            count += 1
        if python:
            print("\n".join(python), flush=True)
            call([os.environ["CINOC_PYTHON"], "-c", "\n".join(python)], folder)
    return count


def main():
    total, times = 0, []
    for page in sys.argv[1:]:
        begun = time.monotonic()
        if count := run(page):
            total += count
            times.append((time.monotonic() - begun, page))
    assert total, "these pages have no command to run"
    print("\n".join(f"{seconds:6.1f} s  {page}" for seconds, page in times))
    print(f"{total} passed, 0 failed")


if __name__ == "__main__":
    main()
