"""Links of all Markdown files and, given the folder of a built book, of its pages: files, anchors, images. Addresses elsewhere are not looked at.

Also: every page in docs/ is named in docs/SUMMARY.md, and every picture says in words what it shows.
"""
import collections
import html.parser
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"^(```+)[^\n]*\n.*?^\1[^\n]*$|(`+)(?!`).*?(?<!`)\2(?!`)|<!--.*?-->", re.S | re.M)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)


def prose(text):
    """A text whose code and comments are blanks, so that what is found in it lies at the same place in the original."""
    return CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def slug(heading):
    """The anchor of a heading, as code hosts and mdBook make it."""
    plain = LINK.sub(r"\2", heading).replace("`", "")
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain.strip().lower()))


def anchors(text):
    """The anchors of all headings of a page."""
    fenced = re.sub(r"^(```+)[^\n]*\n.*?^\1[^\n]*$", "", text, flags=re.S | re.M)
    seen, found = collections.Counter(), set()
    for heading in re.findall(r"^#{1,6}\s+(.+?)\s*#*$", fenced, re.M):
        name = slug(heading)
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def tracked():
    """All files that a clone has, and the folders they are in, relative to the top."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        files = {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}
    else:
        # An archive of the sources, without git.
        every = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
        files = {str(path) for path in every if path.parts[0] not in ("target", "runs", ".git", ".venv")}
    return files, {str(parent) for name in files for parent in pathlib.PurePosixPath(name).parents}


def markdown():
    """What is wrong in Markdown files."""
    files, folders = tracked()
    pages = {name: (ROOT / name).read_text() for name in sorted(files) if name.endswith(".md")}
    known = {name: anchors(text) for name, text in pages.items()}
    for name, text in pages.items():
        clear = prose(text)
        for found in LINK.finditer(clear):
            picture, words, link = found.groups()
            place = f"{name}:{clear[:found.start()].count(chr(10)) + 1}"
            if picture and not words.strip():
                yield f"{place}: the picture {link} says nothing to those who do not see it"
            if ELSEWHERE.match(link):
                continue
            path, _, anchor = urllib.parse.unquote(link).partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if target not in files and target not in folders:
                yield f"{place}: there is no {target}"
            elif anchor and target in known and anchor not in known[target]:
                yield f"{place}: {target} has no heading #{anchor}; it has {', '.join(sorted(known[target]))}"
    if "docs/SUMMARY.md" in pages:
        listed = {os.path.normpath(f"docs/{link}") for *_, link in LINK.findall(pages["docs/SUMMARY.md"])}
        for name in sorted(pages):
            if name.startswith("docs/") and name != "docs/SUMMARY.md" and name not in listed:
                yield f"docs/SUMMARY.md does not name {name[5:]}"


class Page(html.parser.HTMLParser):
    """Links and anchors of a page of a book."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key in ("id", "name") and value:
                self.ids.add(value)
            elif key in ("href", "src") and value and not ELSEWHERE.match(value):
                self.links.append(value)


def book(folder):
    """What is wrong in a built book."""
    pages = {str(path.relative_to(folder)): Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    for name, page in pages.items():
        for link in page.links:
            path, _, anchor = urllib.parse.unquote(link).partition("#")
            path = path.partition("?")[0]
            # 404.html is shown for addresses anywhere, so its links begin at the top.
            base = "" if path.startswith("/") or name == "404.html" else os.path.dirname(name)
            target = os.path.normpath(os.path.join(base, path.lstrip("/"))) if path else name
            if not (folder / target).exists():
                yield f"{name}: there is no {target}"
            elif anchor and target in pages and anchor not in pages[target].ids:
                yield f"{name}: {target} has no #{anchor}"


def main():
    complaints = sorted(set(book(pathlib.Path(sys.argv[1])) if len(sys.argv) > 1 else markdown()))
    print("\n".join(complaints), file=sys.stderr, end="\n" if complaints else "")
    sys.exit(f"{len(complaints)} links to mend" if complaints else 0)


if __name__ == "__main__":
    main()
