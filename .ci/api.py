"""The public interface of a crate as a list: python3 .ci/api.py [--check | --write | --count | --examples] [--crate NAME] [--most N]

--check     (default) fails if crates/NAME/public-api.txt is not the list of the sources, or has more than N items (MOST; fields and variants are not counted)
--write     writes that file
--count     prints how many items there are of each kind
--examples  counts the compiled examples in the documentation of each crate; fails below EXAMPLES in all, or if a front page has none

A line per item, sorted: modules, types with their public fields, variants and methods, traits with what they declare, functions, constants, macros, and
implementations of traits that are written out. Hidden items (`#[doc(hidden)]`), derived, automatic and blanket implementations are left out. An item that
is reachable by several paths is listed once, by the shortest. It is made of rustdoc's JSON, which takes RUSTC_BOOTSTRAP=1 with a stable compiler.
"""
import argparse
import collections
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST = 300
EXAMPLES = 25
KINDS = ("module", "macro", "struct", "enum", "union", "trait", "type", "fn", "const", "static", "field", "variant", "method", "impl", "use")


def rustdoc(crate):
    """Returns rustdoc's JSON of a crate."""
    command = ["cargo", "rustdoc", "--quiet", "--locked", "-p", crate, "--lib", "--", "-Z", "unstable-options", "--output-format", "json", "--cap-lints", "allow"]
    subprocess.run(command, cwd=ROOT, check=True, env=dict(os.environ, RUSTC_BOOTSTRAP="1"))
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    return json.loads((target / "doc" / f"{crate.replace('-', '_')}.json").read_text())


class Types:
    """Types of rustdoc's JSON as Rust text."""

    def text(self, kind):
        if kind is None:
            return "()"
        if isinstance(kind, str):
            return "_"
        (tag, inner), = kind.items()
        return getattr(self, tag)(inner)

    def resolved_path(self, inner):
        return inner.get("path", inner.get("name", "")).removeprefix("$crate::").rsplit("::", 1)[-1] + self.arguments(inner.get("args"))

    def dyn_trait(self, inner):
        parts = [self.bound_trait(part) for part in inner["traits"]] + ([inner["lifetime"]] if inner.get("lifetime") else [])
        return "dyn " + " + ".join(parts)

    def bound_trait(self, inner):
        return self.higher_ranked(inner.get("generic_params")) + self.resolved_path(inner["trait"])

    def higher_ranked(self, params):
        return f"for<{', '.join(p['name'] for p in params)}> " if params else ""

    def generic(self, inner):
        return inner

    primitive = generic

    def function_pointer(self, inner):
        return self.higher_ranked(inner.get("generic_params")) + "fn" + self.signature(inner["sig"], names=False)

    def tuple(self, inner):
        return "(" + ", ".join(map(self.text, inner)) + ("," if len(inner) == 1 else "") + ")"

    def slice(self, inner):
        return f"[{self.text(inner)}]"

    def array(self, inner):
        return f"[{self.text(inner['type'])}; {inner['len']}]"

    def pat(self, inner):
        return self.text(inner["type"])

    def impl_trait(self, inner):
        return "impl " + self.bounds(inner)

    def infer(self, _):
        return "_"

    def raw_pointer(self, inner):
        return f"*{'mut' if inner['is_mutable'] else 'const'} {self.text(inner['type'])}"

    def borrowed_ref(self, inner):
        lifetime = inner["lifetime"] + " " if inner.get("lifetime") else ""
        return f"&{lifetime}{'mut ' if inner['is_mutable'] else ''}{self.text(inner['type'])}"

    def qualified_path(self, inner):
        trait = self.resolved_path(inner["trait"]) if inner.get("trait") else ""
        of = self.text(inner["self_type"])
        return (f"<{of} as {trait}>" if trait and of != "Self" else of) + "::" + inner["name"] + self.arguments(inner.get("args"))

    def arguments(self, args):
        if not args or isinstance(args, str):
            return "(..)" if args == "return_type_notation" else ""
        if found := args.get("angle_bracketed"):
            parts = [self.argument(arg) for arg in found["args"]]
            for constraint in found.get("constraints", found.get("bindings", [])):
                (how, what), = constraint["binding"].items()
                parts.append(f"{constraint['name']}" + (f" = {self.term(what)}" if how == "equality" else f": {self.bounds(what)}"))
            return f"<{', '.join(parts)}>" if parts else ""
        if found := args.get("parenthesized"):
            output = f" -> {self.text(found['output'])}" if found.get("output") else ""
            return f"({', '.join(map(self.text, found['inputs']))}){output}"
        return ""

    def argument(self, arg):
        if isinstance(arg, str):
            return "_"
        (how, what), = arg.items()
        return what if how == "lifetime" else self.text(what) if how == "type" else str(what.get("expr", "_")) if how == "const" else "_"

    def term(self, term):
        (how, what), = term.items()
        return self.text(what) if how == "type" else str(what.get("expr"))

    def bounds(self, bounds):
        parts = []
        for bound in bounds:
            (how, what), = bound.items()
            if how == "trait_bound":
                parts.append(("?" if what.get("modifier") == "maybe" else "") + self.bound_trait(what))
            elif how == "outlives":
                parts.append(what)
            elif how == "use":
                parts.append("use<..>")
        return " + ".join(parts)

    def generics(self, generics):
        """Returns the text of parameters, and that of a where clause."""
        parts = []
        for param in generics["params"]:
            (how, what), = param["kind"].items()
            if how == "lifetime":
                parts.append(param["name"])
            elif how == "const":
                parts.append(f"const {param['name']}: {self.text(what['type'])}")
            elif not what.get("is_synthetic"):
                parts.append(param["name"] + (f": {self.bounds(what['bounds'])}" if what["bounds"] else ""))
        where = []
        for predicate in generics["where_predicates"]:
            (how, what), = predicate.items()
            if how == "bound_predicate":
                where.append(f"{self.text(what['type'])}: {self.bounds(what['bounds'])}")
            elif how == "lifetime_predicate":
                where.append(f"{what['lifetime']}: {' + '.join(what['outlives'])}")
        return (f"<{', '.join(parts)}>" if parts else ""), (f" where {', '.join(where)}" if where else "")

    def signature(self, sig, names=True):
        inputs = []
        for name, kind in sig["inputs"]:
            text = self.text(kind)
            if name == "self":
                inputs.append({"Self": "self", "&Self": "&self", "&mut Self": "&mut self"}.get(text, f"self: {text}"))
            else:
                inputs.append(f"{name}: {text}" if names else text)
        output = f" -> {self.text(sig['output'])}" if sig.get("output") else ""
        return f"({', '.join(inputs)}){output}"


class Api(Types):
    """Lines of the public items of a crate, with their kinds."""

    def __init__(self, doc):
        self.index, self.doc = doc["index"], doc
        self.lines, self.seen = {}, set()
        root = self.item(doc["root"])
        # Breadth first: the shortest path of an item comes first.
        queue = collections.deque([(root, root["name"])])
        while queue:
            self.visit(*queue.popleft(), queue)

    def item(self, key):
        return self.index.get(str(key))

    def add(self, kind, line):
        self.lines.setdefault(line, kind)

    def visit(self, item, path, queue):
        """Adds an item; its children that have paths wait."""
        (kind, inner), = item["inner"].items()
        if kind == "use":
            return self.passed_on(inner, path.rpartition("::")[0], queue)
        if item["id"] in self.seen:
            return None
        self.seen.add(item["id"])
        return getattr(self, f"visit_{kind}", lambda *_: None)(item, inner, path, queue)

    def passed_on(self, inner, path, queue):
        target = self.item(inner["id"]) if inner.get("id") is not None else None
        if target is None:
            self.add("use", f"pub use {path}::{'*' if inner['is_glob'] else inner['name']} ({inner['source']})")
        elif inner["is_glob"]:
            (kind, what), = target["inner"].items()
            for key in what["variants" if kind == "enum" else "items"]:
                if (child := self.item(key)) and self.public(child):
                    queue.append((child, f"{path}::{self.name(child)}"))
        else:
            queue.append((target, f"{path}::{inner['name']}"))

    @staticmethod
    def public(item):
        return item["visibility"] in ("public", "default")

    @staticmethod
    def name(item):
        return item["name"] or item["inner"].get("use", {}).get("name") or ""

    def visit_module(self, item, inner, path, queue):
        self.add("module", f"pub mod {path}")
        for key in inner["items"]:
            if (child := self.item(key)) and self.public(child) and "impl" not in child["inner"]:
                queue.append((child, f"{path}::{self.name(child)}"))

    def typed(self, kind, item, inner, path):
        params, where = self.generics(inner["generics"])
        self.add(kind, f"pub {kind} {path}{params}{where}")
        for key in inner.get("impls", ()):
            if found := self.item(key):
                self.implementation(found["inner"]["impl"], found, path)

    def implementation(self, inner, item, path):
        if inner.get("is_synthetic") or inner.get("blanket_impl") or "automatically_derived" in str(item["attrs"]):
            return
        params, where = self.generics(inner["generics"])
        if inner.get("trait"):
            self.add("impl", f"impl{params} {self.resolved_path(inner['trait'])} for {path}{where}")
            return
        for key in inner["items"]:
            if (child := self.item(key)) and child["visibility"] == "public":
                self.member(child, path)

    def member(self, item, path):
        (kind, inner), = item["inner"].items()
        path = f"{path}::{item['name']}"
        if kind == "function":
            params, where = self.generics(inner["generics"])
            self.add("method", f"pub {self.header(inner)}fn {path}{params}{self.signature(inner['sig'])}{where}")
        elif kind == "assoc_const":
            self.add("const", f"pub const {path}: {self.text(inner['type'])}")
        elif kind == "assoc_type":
            bounds = self.bounds(inner.get("bounds", []))
            self.add("type", f"pub type {path}" + (f": {bounds}" if bounds else ""))

    @staticmethod
    def header(inner):
        header = inner["header"]
        return "".join(word + " " for word in ("const", "async", "unsafe") if header.get(f"is_{word}"))

    def fields(self, keys, path):
        for number, key in enumerate(keys):
            field = self.item(key) if key is not None else None
            if field and field["visibility"] in ("public", "default"):
                self.add("field", f"pub {path}::{field['name'] or number}: {self.text(field['inner']['struct_field'])}")

    def visit_struct(self, item, inner, path, _):
        self.typed("struct", item, inner, path)
        if isinstance(inner["kind"], dict):
            self.fields(inner["kind"]["plain"]["fields"] if "plain" in inner["kind"] else inner["kind"]["tuple"], path)

    def visit_union(self, item, inner, path, _):
        self.typed("union", item, inner, path)
        self.fields(inner["fields"], path)

    def visit_enum(self, item, inner, path, _):
        self.typed("enum", item, inner, path)
        for key in inner["variants"]:
            if not (variant := self.item(key)):
                continue
            kind = variant["inner"]["variant"]["kind"]
            place = f"{path}::{variant['name']}"
            if isinstance(kind, dict) and "tuple" in kind:
                parts = [self.text(self.item(k)["inner"]["struct_field"]) if k is not None and self.item(k) else "_" for k in kind["tuple"]]
                self.add("variant", f"pub {place}({', '.join(parts)})")
            else:
                self.add("variant", f"pub {place}")
                if isinstance(kind, dict):
                    self.fields(kind["struct"]["fields"], place)

    def visit_trait(self, item, inner, path, _):
        params, where = self.generics(inner["generics"])
        bounds = self.bounds(inner["bounds"])
        self.add("trait", f"pub {'unsafe ' if inner['is_unsafe'] else ''}trait {path}{params}{': ' + bounds if bounds else ''}{where}")
        for key in inner["items"]:
            if child := self.item(key):
                self.member(child, path)

    def visit_function(self, item, inner, path, _):
        params, where = self.generics(inner["generics"])
        self.add("fn", f"pub {self.header(inner)}fn {path}{params}{self.signature(inner['sig'])}{where}")

    def visit_type_alias(self, item, inner, path, _):
        params, where = self.generics(inner["generics"])
        self.add("type", f"pub type {path}{params} = {self.text(inner['type'])}{where}")

    def visit_constant(self, item, inner, path, _):
        self.add("const", f"pub const {path}: {self.text(inner['type'])}")

    def visit_static(self, item, inner, path, _):
        self.add("static", f"pub static {path}: {self.text(inner['type'])}")

    def visit_macro(self, item, inner, path, _):
        self.add("macro", f"pub macro {path}!")

    def visit_proc_macro(self, item, inner, path, _):
        self.add("macro", f"pub macro {path}!")


def blocks(text):
    """Yields whether each fenced block of a documentation text is compiled."""
    inside = False
    for line in text.splitlines():
        if found := re.match(r"\s*(```+|~~~+)(.*)$", line):
            inside = not inside
            if inside:
                words = set(re.split(r"[,\s{}]+", found[2].strip())) - {""}
                yield not (words & {"ignore", "text", "toml", "sh", "python", "c", "json", "console", "compile_fail"})


def documented(path):
    """Returns the documentation of a file: of itself, and of its items."""
    text = path.read_text()
    own = "\n".join(line.strip()[3:].removeprefix(" ") for line in text.splitlines() if line.strip().startswith("//!"))
    for name in re.findall(r'#!\[doc\s*=\s*include_str!\("([^"]+)"\)\]', text):
        own += "\n" + (path.parent / name).read_text()
    items = "\n".join(line.strip()[3:].removeprefix(" ") for line in text.splitlines() if line.strip().startswith("///") and not line.strip().startswith("////"))
    return own, items


def examples():
    """Counts examples; returns complaints."""
    complaints, total = [], 0
    for folder in sorted((ROOT / "crates").iterdir()):
        if not (folder / "Cargo.toml").exists() or not (folder / "src/lib.rs").exists():
            continue
        manifest = tomllib.loads((folder / "Cargo.toml").read_text())
        front, count = sum(blocks(documented(folder / "src/lib.rs")[0])), 0
        for path in (folder / "src").rglob("*.rs"):
            count += sum(sum(blocks(part)) for part in documented(path))
        if manifest.get("lib", {}).get("doctest", True):
            total += count
            print(f"{folder.name}: {count} examples, {front} on its front page")
            if not front and manifest["package"].get("publish", True):
                complaints.append(f"the front page of {folder.name} has no compiled example")
    print(f"{total} examples in all, at least {EXAMPLES}")
    return complaints + ([f"{total} compiled examples in all, fewer than {EXAMPLES}"] if total < EXAMPLES else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--check", "--write", "--count", "--examples"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--crate", default="cinoc")
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--json", type=pathlib.Path, help="takes rustdoc's JSON from a file")
    options = parser.parse_args()
    if options.examples:
        complaints = examples()
    else:
        lines = Api(json.loads(options.json.read_text()) if options.json else rustdoc(options.crate)).lines
        text = "".join(line + "\n" for line in sorted(lines))
        file = ROOT / "crates" / options.crate / "public-api.txt"
        kinds = collections.Counter(lines.values())
        items = len(lines) - kinds["field"] - kinds["variant"]
        print(f"{options.crate}: {items} public items, at most {options.most}, and {len(lines) - items} fields and variants: "
              + ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind]))
        complaints = []
        if options.count:
            return
        if options.write:
            file.write_text(text)
            return
        if items > options.most:
            complaints.append(f"{items} public items, more than {options.most}")
        before = file.read_text() if file.exists() else ""
        if before != text:
            complaints += difflib.unified_diff(before.splitlines(), text.splitlines(), str(file.relative_to(ROOT)), "the sources", lineterm="", n=0)
            complaints.append(f"{file.relative_to(ROOT)} is not the list of the sources; if the change is meant: python3 .ci/api.py --write")
    print("\n".join(complaints), end="\n" if complaints else "", file=sys.stderr)
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
