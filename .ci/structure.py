"""The architecture, checked: no import cycle among the files of a crate, and no problem named outside its own file and the registry.

An import points to the file that defines what is imported, not to the `mod.rs` that passes it on. The tape records itself into its memory and back;
its few files are one thing in several pieces and may know each other.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOGETHER = {f"crates/cinoc-tape/src/{name}.rs" for name in ("tape", "var", "memory", "node", "params", "backward", "replay", "value_numbering")}
TOGETHER |= {f"crates/cinoc-tape/src/op/{path.name}" for path in (ROOT / "crates/cinoc-tape/src/op").glob("*.rs")}
ITEM = re.compile(r"^\s*pub(?:\([^)]*\))?\s+(?:const\s+|async\s+|unsafe\s+)*(?:struct|enum|trait|fn|type|const|static|mod|union)\s+(?:mut\s+)?(\w+)", re.M)


def code(path):
    """The text of a file without comments and without its unit tests."""
    text = path.read_text().split("\n#[cfg(test)]\nmod tests {")[0]
    return re.sub(r"//.*", "", text)


def expand(tree, prefix=()):
    """All paths of a use tree."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, name = tree.partition(" as ")
        yield prefix + tuple(p.strip() for p in path.split("::")), (name.strip() or None)
        return
    prefix = prefix + tuple(p.strip() for p in head.split("::") if p.strip())
    depth, start, inner = 0, 0, rest.rsplit("}", 1)[0]
    for i, c in enumerate(inner + ","):
        depth += (c == "{") - (c == "}")
        if c == "," and depth == 0:
            if inner[start:i].strip():
                yield from expand(inner[start:i], prefix)
            start = i + 1


class Crate:
    def __init__(self, folder):
        self.src = folder / "src"
        self.files = {self.module(path): path for path in sorted(self.src.rglob("*.rs")) if path.name != "main.rs"}
        self.text = {module: code(path) for module, path in self.files.items()}

    def module(self, path):
        parts = path.relative_to(self.src).with_suffix("").parts
        return tuple(p for p in parts if p not in ("mod", "lib"))

    def uses(self, module):
        """Every path that a file imports, absolute inside the crate, with the name it gets, and whether it is passed on."""
        for passed, tree in re.findall(r"^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", self.text[module], re.M):
            for path, name in expand(" ".join(tree.split())):
                if path := self.absolute(module, path):
                    yield path, name or path[-1], bool(passed)
        for path in re.findall(r"\b(crate(?:::\w+)+)", self.text[module]):
            yield tuple(path.split("::"))[1:], path.split("::")[-1], False

    def absolute(self, module, path):
        if path[0] == "crate":
            return path[1:]
        if path[0] == "self":
            return module + path[1:]
        supers = 0
        while supers < len(path) and path[supers] == "super":
            supers += 1
        if supers:
            return module[: len(module) - supers] + path[supers:]
        return module + path if module + path[:1] in self.files else None

    def home(self, path, seen=()):
        """The module that defines what a path names."""
        if path in self.files:
            return path
        for cut in range(len(path) - 1, -1, -1):
            module = path[:cut]
            if module not in self.files:
                continue
            name = path[cut]
            if name in ITEM.findall(self.text[module]) or (module, name) in seen:
                return module
            for target, known, passed in self.uses(module):
                if passed and known == name:
                    return self.home(target, seen + ((module, name),))
            return module
        return None

    def edges(self):
        graph = {}
        for module in self.files:
            found = {self.home(path) for path, _, passed in self.uses(module) if not passed}
            graph[module] = {home for home in found if home is not None and home != module and home != ()}
        return graph

    def name(self, module):
        return str(self.files[module].relative_to(ROOT))


def cycle(graph):
    """One cycle, or none."""
    state = {}

    def visit(node, trail):
        state[node] = "open"
        for other in sorted(graph.get(node, ())):
            if state.get(other) == "open":
                return trail[trail.index(other):] + [other] if other in trail else [node, other]
            if other not in state and (found := visit(other, trail + [other])):
                return found
        state[node] = "done"
        return None

    for node in sorted(graph):
        if node not in state and (found := visit(node, [node])):
            return found
    return None


def main():
    complaints = []
    for folder in sorted((ROOT / "crates").iterdir()):
        crate = Crate(folder)
        graph = crate.edges()
        if folder.name == "cinoc-tape":
            together = {m for m in graph if crate.name(m) in TOGETHER}
            graph = {m: {o for o in others if not (m in together and o in together)} for m, others in graph.items()}
        if found := cycle(graph):
            complaints.append("imports in a circle: " + " -> ".join(crate.name(m) for m in found))
    problems = sorted(path.stem for path in (ROOT / "crates/cinoc/src/problems").glob("*.rs") if path.stem != "mod")
    allowed = {"crates/cinoc/src/registry.rs", "crates/cinoc/src/problems/mod.rs", "crates/cinoc/src/library.rs"}
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        name, text = str(path.relative_to(ROOT)), code(path)
        if name.startswith("crates/cinoc-fuzz/"):  # A test: it may say what it tests with.
            continue
        for problem in problems:
            own = path.parent.name == "problems" and path.stem == problem
            if re.search(rf'"[^"]*\b{problem}\b', text) and not own and name not in allowed:
                complaints.append(f"{name} names {problem}")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
