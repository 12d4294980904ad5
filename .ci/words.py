"""Counts words that docs/internals/style.md replaces by those of the field: python3 .ci/words.py [--most N] [--list]

The check fails where there are more than N (MOST unless given). `--list` prints every place.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST = 50
SUFFIXES = {".md", ".rs", ".py", ".pyi", ".js", ".mjs", ".html", ".c", ".h", ".yml"}
# The pages and files that have to name the words themselves.
EXEMPT = {".ci/words.py", "docs/internals/style.md"}

# What is written instead stands in docs/internals/style.md.
WORDS = {
    "leaves (residual error)": r"\b(?:leaves?|leaving)\s+(?:(?:only|about|still|less|more|at\s+(?:most|least))\s+)*(?:than\s+)?(?:\d|[−-]?\d*\.\d|less\b|more\b|what\b|(?:a|one|two|three|four|five|ten)\s+(?:\w+\s+)?(?:times|th(?:ird|ousandth))\b)",
    "nobody, somebody, everybody": r"\b(?:nobody|somebody|everybody|anybody)(?:'s|’s)?\b",
    "left alone, let alone": r"\bleft\s+alone\b|\bif\s+nobody\s+acts\b|\bwhat\s+nobody\s+touches\b",
    "so many, as many": r"\b(?:so|as)\s+many\b(?!\s+as\b.{0,20}\bcores\b)",
    "anew": r"\banew\b",
    "by itself, by themselves": r"\bby\s+(?:itself|themselves|himself)\b",
    "of its own, of one's own": r"\bof\s+(?:its|their|one['’]s|our|my|his)\s+own\b|\bone['’]s\s+own\b",
    "goes on": r"\bgo(?:es)?\s+on\b|\bgoing\s+on\b|\bwent\s+on\b",
    "stands, bears, does not mind": r"\bstands?\b(?!\s*(?:ard|-?alone\b))|\bbears?\b|\bdo(?:es)?\s+not\s+mind\b",
    "is no number, knows nothing": r"\bis\s+no\s+number\b|\bknows\s+nothing\b|\bno\s+numbers\b",
    "by reinforcement": r"\bby\s+reinforcement\b(?!\s+learning)",
    "in whose favour": r"\bin\s+whose\s+favour\b",
    "outside the house": r"\bthe\s+house\b",
    "certificate (of stability)": r"\bcertificates?\b",
    # Names in code (a column "dead", a field .dead) are not counted.
    "dead, dies (agents)": r"""(?<![\w.`"'$/-])(?:the\s+living|dead|died?|dies|dying)\b(?!["'`:(=-])""",
    "doc comments (.rs) that begin with What, How, …": r"//[/!] (?-i:What|How|Where|Whether|Who|When)(?:ever)?\b",
}


def texts():
    """Tracked and new text files with their contents."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in sorted(filter(None, names)):
        path = ROOT / name
        if path.suffix in SUFFIXES and name not in EXEMPT and path.is_file():
            yield name, path.read_text(encoding="utf-8", errors="replace")


def places():
    """Every use of a listed word: (word, file, line, text)."""
    patterns = {word: re.compile(pattern, re.I | re.S) for word, pattern in WORDS.items()}
    for name, text in texts():
        for word, pattern in patterns.items():
            for match in pattern.finditer(text):
                yield word, name, text.count("\n", 0, match.start()) + 1, " ".join(match.group().split())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--most", type=int, default=MOST, help=f"how many are allowed (default: {MOST})")
    parser.add_argument("--list", action="store_true", help="print every place")
    parser.add_argument("prefix", nargs="*", help="count only files whose path begins with one of these")
    options = parser.parse_args()
    found = [place for place in places() if not options.prefix or place[1].startswith(tuple(options.prefix))]
    if options.list or len(found) > options.most:
        for word, name, line, text in found:
            print(f"{name}:{line}: {text!r} ({word})")
    counts = {word: sum(place[0] == word for place in found) for word in WORDS}
    print("\n".join(f"{count:5d}  {word}" for word, count in counts.items()))
    print(f"{len(found):5d}  in all, at most {options.most}")
    sys.exit(len(found) > options.most)


if __name__ == "__main__":
    main()
