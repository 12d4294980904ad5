"""A preprocessor of mdBook: pages that lie outside docs/ join the book, and every link leads to where its page went.

Pages stay where they are in the repository, with links that work there. In the book docs/ is the top; the pages that book.toml names are under
repository/. Pictures from elsewhere go into the page itself; links to other files (code, data) lead to the repository, if book.toml says where that is,
or else lose their link and keep their words.
"""
import base64
import json
import mimetypes
import os
import pathlib
import re
import sys

from links import ELSEWHERE, LINK, prose


class Book:
    """Where everything is."""

    def __init__(self, root, settings, repository):
        self.root, self.repository = root, repository
        self.outside = settings["pages"]

    def place(self, path):
        """Where a file of the repository is in the book, if it is there."""
        inside = path[5:] if path.startswith("docs/") else f"repository/{path}" if path in self.outside else None
        if inside is None or not inside.endswith(".md"):
            return inside
        folder, name = os.path.split(inside)
        return os.path.join(folder, "index.html" if name == "README.md" else name[:-3] + ".html")

    def target(self, source, link, picture):
        """What a link on a page becomes; nothing if it leads out of the book."""
        if ELSEWHERE.match(link) or link.startswith("#"):
            return link
        path, mark, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(source), path))
        if (self.root / path).is_dir() and (self.root / path / "README.md").exists():
            path += "/README.md"
        if place := self.place(path):
            return os.path.relpath(place, os.path.dirname(self.place(source)) or ".") + mark + anchor
        if picture:
            data = base64.b64encode((self.root / path).read_bytes()).decode()
            return f"data:{mimetypes.guess_type(path)[0]};base64,{data}"
        return f"{self.repository}/blob/HEAD/{path}{mark}{anchor}" if self.repository else None

    def rewrite(self, source, text):
        """A page with the links of the book."""
        out, end = [], 0
        for found in LINK.finditer(prose(text)):
            picture, _, link = found.groups()
            # Words may hold code, which is blank in what was searched.
            words = text[found.start(2):found.end(2)]
            target = self.target(source, link, picture)
            out += [text[end:found.start()], f"{picture}[{words}]({target})" if target else words]
            end = found.end()
        text = "".join(out) + text[end:]
        # Narrow columns would break a number at the sign of its exponent.
        letters = list(text)
        for sign in re.finditer(r"(?<=\de)-(?=\d)", prose(text)):
            letters[sign.start()] = "\N{NON-BREAKING HYPHEN}"
        return "".join(letters)

    def visit(self, items):
        """Every page that mdBook has read."""
        for item in items:
            if chapter := item.get("Chapter") if isinstance(item, dict) else None:
                if chapter.get("source_path"):
                    chapter["content"] = self.rewrite("docs/" + chapter["source_path"], chapter["content"])
                self.visit(chapter["sub_items"])

    def chapters(self):
        """The pages from elsewhere."""
        for path in self.outside:
            text = (self.root / path).read_text()
            title = text.splitlines()[0].lstrip("# ")
            page = path[:-len("README.md")] + "index.md" if path.endswith("README.md") else path
            # A title that is but the name of its file says where that is.
            folder, _, last = path.removesuffix("/README.md").removesuffix(".md").rpartition("/")
            name = f"{title} ({folder})" if title == last else title
            yield {"Chapter": {"name": name, "content": self.rewrite(path, text), "number": None, "sub_items": [], "path": f"repository/{page}",
                               "source_path": f"repository/{path}", "parent_names": []}}


def main():
    if sys.argv[1:2] == ["supports"]:
        sys.exit(sys.argv[2] != "html")
    context, book = json.load(sys.stdin)
    config = context["config"]
    whole = Book(pathlib.Path(context["root"]), config["preprocessor"]["repository"], config.get("output", {}).get("html", {}).get("git-repository-url"))
    items = book["items"] if "items" in book else book["sections"]
    whole.visit(items)
    items += ["Separator", {"PartTitle": "From the repository"}, *whole.chapters()]
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
