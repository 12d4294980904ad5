"""Checks the architecture: python3 .ci/structure.py [--check | --write | --diagram | --types]

--check    (default) fails on an import cycle among the files of a crate, on a dependency between top-level modules that .ci/modules.toml does not
           allow, on a problem named outside its own file and the registry, on a public type name that a crate has twice (a warning unless STRICT), and
           if the diagram in ARCHITECTURE.md is not the one of the table
--write    writes .ci/modules.toml from the sources, and the diagram in ARCHITECTURE.md
--diagram  prints that diagram
--types    prints the public type names that a crate has twice

A dependency points to the file that defines a name, not to the `mod.rs` that passes it on. It is found in `use` declarations and in paths without one
(`mpi::Mpi::start()` after `mod mpi;`). Unit tests do not count. A `mod.rs` may call its own files by such a path, and they may use what it defines;
with a file of another folder in between that is a cycle. The files of TOGETHER are one data structure in several files and may use each other.
"""
import argparse
import collections
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / ".ci/modules.toml"
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- modules: written by .ci/structure.py --write -->", "<!-- end of modules -->"
# Crates whose top-level modules have a table of allowed dependencies.
TABLED = ("cinoc", "cinoc-lab")
# Whether a public type name that a crate has twice is an error.
STRICT = True
# Names that a crate may have twice, with the reason: {("crate", "Name"): "why"}.
TWICE = {}

TOGETHER = {f"crates/cinoc-tape/src/{name}.rs" for name in ("tape", "var", "memory", "arena", "node", "params", "backward", "replay", "value_numbering")}
TOGETHER |= {f"crates/cinoc-tape/src/op/{path.name}" for path in (ROOT / "crates/cinoc-tape/src/op").glob("*.rs")}
# Modules that only pass names on.
FACADES = {"cinoc": {"prelude", "internal"}}
# Files that may name problems; cinoc-fuzz is a test.
NAMES_PROBLEMS = ("crates/cinoc/src/registry.rs", "crates/cinoc/src/problems/mod.rs", "crates/cinoc/src/library.rs", "crates/cinoc-fuzz/")

ITEM = re.compile(r"^\s*pub(?:\([^)]*\))?\s+(?:const\s+|async\s+|unsafe\s+)*(?:struct|enum|trait|fn|type|const|static|mod|union)\s+(?:mut\s+)?(\w+)", re.M)
TYPE = re.compile(r"^\s*pub\s+(?:unsafe\s+)?(?:struct|enum|trait|type|union)\s+(\w+)", re.M)
USE = re.compile(r"^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.M)
PATH = re.compile(r"(?<![\w:])((?:\$?crate|self|super|[a-z]\w*)(?:::\w+)+)")


def code(path):
    """Returns the text of a file without comments and unit tests."""
    text = re.split(r"\n#\[cfg\((?:all\()?test\b[^\]]*\]\nmod \w+ \{", path.read_text())[0]
    return re.sub(r"//.*", "", text)


def expand(tree, prefix=()):
    """Yields all paths of a use tree, each with the name that it gets if that is another."""
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
    """The files of a crate as modules, named by tuples of path segments; the root is ()."""

    def __init__(self, folder):
        self.folder, self.src = folder, folder / "src"
        self.files = {self.module(path): path for path in sorted(self.src.rglob("*.rs")) if path.name != "main.rs"}
        self.text = {module: code(path) for module, path in self.files.items()}
        self.items = {module: set(ITEM.findall(text)) for module, text in self.text.items()}
        self.imports = {module: list(self.find_imports(module)) for module in self.files}

    def module(self, path):
        parts = path.relative_to(self.src).with_suffix("").parts
        return tuple(p for p in parts if p not in ("mod", "lib"))

    def find_imports(self, module):
        """Yields every imported path, absolute inside the crate, with its name and whether it is passed on."""
        for passed, tree in USE.findall(self.text[module]):
            for path, name in expand(" ".join(tree.split())):
                if (found := self.absolute(module, path)) is not None:
                    if found and found[-1] == "self":
                        found = found[:-1]
                    yield found, name or (found[-1] if found else ""), bool(passed)

    def absolute(self, module, path):
        """Returns a path from the root of the crate; None if it leads to another crate."""
        if path[0] in ("crate", "$crate"):
            return path[1:]
        if path[0] == "self":
            return module + path[1:]
        supers = 0
        while supers < len(path) and path[supers] == "super":
            supers += 1
        if supers:
            return module[: len(module) - supers] + path[supers:]
        return module + path if module + path[:1] in self.files else None

    def paths(self, module):
        """Yields every path of the text outside of `use`, absolute: of child modules, and of modules that were imported."""
        imported = {name: path for path, name, _ in self.imports[module] if path in self.files}
        for written in PATH.findall(USE.sub("", self.text[module])):
            path = tuple(written.split("::"))
            if (found := self.absolute(module, path)) is not None:
                yield found
            elif path[0] in imported:
                yield imported[path[0]] + path[1:]

    def home(self, path, seen=()):
        """Returns the module that defines what a path names."""
        if path in self.files:
            return path
        for cut in range(len(path) - 1, -1, -1):
            module = path[:cut]
            if module not in self.files:
                continue
            name = path[cut]
            if name in self.items[module] or (module, name) in seen:
                return module
            for target, known, passed in self.imports[module]:
                if passed and known == name:
                    return self.home(target, seen + ((module, name),))
            for target, known, passed in self.imports[module]:
                if passed and known == "*" and (found := self.home(target[:-1] + (name,), seen + ((module, name),))) not in (None, target[:-1]):
                    return found
            return module
        return None

    def edges(self, calls=True):
        """Returns for each module those that it uses; without `calls`, a module's calls into its own folder by path are left out.

        The root only passes names on and is not used."""
        graph = {}
        for module in self.files:
            found = {self.home(path) for path, _, passed in self.imports[module] if not passed}
            by_path = {self.home(path) for path in self.paths(module)}
            found |= {home for home in by_path if home is not None and (calls or home[: len(module)] != module)}
            graph[module] = {home for home in found if home is not None and home != module and home != ()}
        return graph

    def tops(self):
        """Returns for each top-level module those that it uses."""
        facades = FACADES.get(self.folder.name, set())
        graph = {module[0]: set() for module in self.files if module and module[0] not in facades}
        for module, others in self.edges().items():
            if module and module[0] in graph:
                graph[module[0]] |= {other[0] for other in others if other[0] != module[0] and other[0] in graph}
        return graph

    def name(self, module):
        return str(self.files[module].relative_to(ROOT))


def cycle(graph):
    """Returns one cycle as a list of nodes, or None."""
    state = {}

    def visit(node, trail):
        state[node] = "open"
        for other in sorted(graph.get(node, ())):
            if state.get(other) == "open":
                return trail[trail.index(other):] + [other]
            if other not in state and (found := visit(other, trail + [other])):
                return found
        state[node] = "done"
        return None

    for node in sorted(graph):
        if node not in state and (found := visit(node, [node])):
            return found
    return None


def components(graph):
    """Returns the strongly connected components of a graph as sorted lists, users after what they use."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            at = stack.index(node)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def crates():
    """Returns all library crates by name."""
    folders = [*(ROOT / "crates").iterdir(), *(ROOT / "examples").iterdir()]
    return {folder.name: Crate(folder) for folder in sorted(folders) if (folder / "Cargo.toml").exists()}


def crate_graph():
    """Returns for each crate of the workspace those of the workspace that it uses, without the double-precision copies."""
    manifests = {}
    for path in [*(ROOT / "crates").glob("*/Cargo.toml"), *(ROOT / "examples").glob("*/Cargo.toml")]:
        text = tomllib.loads(path.read_text())
        manifests[text["package"]["name"]] = set(text.get("dependencies", {}))
    return {name: {other for other in needs if other in manifests} for name, needs in sorted(manifests.items())}


def found_table(every):
    """Returns the table of the sources: {"crates": {crate: set}, crate: {module: set}}."""
    return {"crates": crate_graph(), **{name: every[name].tops() for name in TABLED if name in every}}


def written_table():
    text = tomllib.loads(TABLE.read_text()) if TABLE.exists() else {}
    return {part: {name: set(others) for name, others in graph.items()} for part, graph in text.items()}


def table_text(table):
    lines = ["# Which crate may use which, and which top-level module of a crate. Checked by .ci/structure.py; --write makes it from the sources."]
    for part, graph in table.items():
        lines += ["", f"[{part}]"]
        width = max(map(len, graph))
        lines += [f"{name:{width}} = [{', '.join(map('{!r}'.format, sorted(others)))}]".replace("'", '"') for name, others in sorted(graph.items())]
    return "\n".join(lines) + "\n"


def reduced(graph):
    """Returns a graph without the edges that follow from others. Its cycles are kept whole."""
    reach = {}

    def below(node, trail=()):
        if node not in reach and node not in trail:
            found = set()
            for other in graph[node]:
                found |= {other} | below(other, trail + (node,))
            if trail:
                return found
            reach[node] = found
        return reach.get(node, set())

    for node in graph:
        below(node)
    return {node: {other for other in others if not any(other in reach[third] and node not in reach[third] for third in others if third != other)}
            for node, others in graph.items()}


def diagram(table):
    """Returns the Markdown between the markers of ARCHITECTURE.md."""
    lines = ["```mermaid", "graph TD"]
    lines += [f"  {name} --> {other}" for name, others in sorted(reduced(table.get("crates", {})).items()) for other in sorted(others)]
    lines += ["```", ""]
    for part, graph in table.items():
        if part == "crates":
            continue
        groups, level = components(graph), {}
        for group in groups:
            height = max((level[other] + 1 for node in group for other in graph[node] if other not in group), default=0)
            level.update((node, height) for node in group)
        direct = reduced(graph)
        rows = collections.defaultdict(list)
        for node, height in sorted(level.items()):
            rows[height].append(node)
        lines += [f"Top-level modules of `{part}`: a module uses those of lower levels, and those that they use.", "", "| level | module | uses |", "|---|---|---|"]
        for height, nodes in sorted(rows.items(), reverse=True):
            for node in nodes:
                uses = ", ".join(f"`{other}`" for other in sorted(direct[node], key=lambda other: (-level[other], other))) or "—"
                lines.append(f"| {height} | `{node}` | {uses} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def page(text, inner):
    """Returns ARCHITECTURE.md with a diagram; None if it has no markers."""
    begin, end = text.find(BEGIN), text.find(END)
    return None if begin < 0 or end < begin else text[: begin + len(BEGIN)] + "\n\n" + inner + "\n" + text[end:]


def twice(every):
    """Yields the public type names that a crate has in several files."""
    for name, crate in every.items():
        places = collections.defaultdict(list)
        for module, text in crate.text.items():
            for found in sorted(set(TYPE.findall(text))):
                places[found].append(crate.name(module))
        for found, files in sorted(places.items()):
            if len(files) > 1 and (name, found) not in TWICE:
                yield f"{name} has the public type {found} {len(files)} times: {', '.join(files)}"


def check(every):
    """Yields every complaint."""
    for name, crate in every.items():
        together = {m for m in crate.files if crate.name(m) in TOGETHER}

        def without(graph):
            return {m: {o for o in others if not (m in together and o in together)} for m, others in graph.items()}

        whole, imports = without(crate.edges()), without(crate.edges(calls=False))
        for group in components(whole):
            shortest = min(group, key=len)
            graph = imports if all(m[: len(shortest)] == shortest for m in group) else whole
            if found := cycle({m: graph[m] & set(group) for m in group}):
                yield "import cycle: " + " -> ".join(crate.name(m) for m in found)
    allowed, found = written_table(), found_table(every)
    for part in found:
        for name, others in found[part].items():
            for other in sorted(others - allowed.get(part, {}).get(name, set())):
                yield f"{part}: {name} uses {other}, which .ci/modules.toml does not allow; if it should, python3 .ci/structure.py --write"
        for name in sorted(set(found[part]) ^ set(allowed.get(part, {}))):
            yield f"{part}: {name} is not both in the sources and in .ci/modules.toml; python3 .ci/structure.py --write"
    if (wanted := page(PAGE.read_text(), diagram(allowed))) not in (None, PAGE.read_text()):
        yield "the diagram in ARCHITECTURE.md is not that of .ci/modules.toml; python3 .ci/structure.py --write"
    problems = sorted(path.stem for path in (ROOT / "crates/cinoc/src/problems").glob("*.rs") if path.stem != "mod")
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        name, text = str(path.relative_to(ROOT)), code(path)
        if name.startswith(NAMES_PROBLEMS):
            continue
        for problem in problems:
            own = path.parent.name == "problems" and path.stem == problem
            if re.search(rf'"[^"]*\b{problem}\b', text) and not own:
                yield f"{name} names {problem}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--check", "--write", "--diagram", "--types"):
        parser.add_argument(option, action="store_true")
    options = parser.parse_args()
    every = crates()
    if options.write:
        table = found_table(every)
        TABLE.write_text(table_text(table))
        if new := page(PAGE.read_text(), diagram(table)):
            PAGE.write_text(new)
        else:
            print(f"ARCHITECTURE.md has no {BEGIN} … {END}; its diagram was not written")
        return
    if options.diagram:
        print(diagram(written_table()), end="")
        return
    repeated = list(twice(every))
    if options.types:
        print("\n".join(repeated + [f"{len(repeated)} names"]))
        return
    complaints = list(check(every))
    if STRICT:
        complaints += repeated
    elif repeated:
        print(f"warning: {len(repeated)} public type names are there twice in a crate (python3 .ci/structure.py --types)")
    print("\n".join(complaints) or "no import cycle, no dependency outside of the table", file=sys.stderr if complaints else sys.stdout)
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
