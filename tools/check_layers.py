#!/usr/bin/env python3
"""Checks the include lines of the tree against tools/layers.toml.

One line per breach: file:line, the edge, the rule in brackets. Exit code 1 if there is any. The rules:

  level              a folder includes one of a higher level
  same-level         a folder includes another one of its own level
  not-visible        the folder is lower, but not among those that the including one sees
  unknown-folder     an include or a file of a folder that is no layer
  cycle              headers that include each other, or folders that do so by exceptions
  missing            an include of a header that does not exist
  third-party        a third-party header in a folder that may not see it
  private            a program or a public header includes a private header
  public-below       a layer below api includes a public header that is not its business
  public-third-party a third-party header in a public header
  public-count       too many public headers
  forbidden-name     a file or folder whose name says nothing
  orphan             a source or header below src/ that belongs to no target
  cmake              src/CMakeLists.txt links a folder to others than layers.toml says
  levels             layers.toml itself: a layer sees one that is not lower
  exception          an exception without a reason, or that nothing needs
"""

import argparse
import fnmatch
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCE_SUFFIXES = {".cc", ".h"}

# C and operating system headers; the C++ ones have no suffix. Everything else in angle brackets is third-party.
SYSTEM_HEADERS = re.compile(
    r"^([a-z0-9_]+"
    r"|(sys|linux|arpa|netinet|net|bits|asm)/.*\.h"
    r"|(assert|complex|ctype|dirent|dlfcn|errno|fcntl|fenv|float|grp|inttypes|limits|locale|math|netdb|poll|pthread|pwd"
    r"|sched|semaphore|setjmp|signal|stdalign|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|strings|termios|time"
    r"|unistd|wchar|immintrin|emmintrin|x86intrin|arm_neon|cpuid|getopt)\.h)$"
)


@dataclass(frozen=True)
class Include:
    file: str  # from the root of the tree
    line: int
    angled: bool
    name: str


class Checker:
    def __init__(self, root: Path, config: dict):
        self.root = root
        self.config = config
        self.layers: dict[str, dict] = config.get("layers", {})
        self.programs: dict[str, dict] = config.get("programs", {})
        self.breaches: list[str] = []
        self.exceptions = {(e.get("file"), e.get("include")): e for e in config.get("exceptions", [])}
        self.used_exceptions: set = set()
        self.headers: dict[str, list[Include]] = {}  # include graph between headers of ours, by path
        self.folder_edges: dict[str, dict[str, Include]] = {}

    def report(self, where: str, edge: str, rule: str) -> None:
        self.breaches.append(f"{where}: {edge} [{rule}]")

    def breach(self, include: Include, edge: str, rule: str) -> None:
        """Report an include line, unless it is an exception with a reason."""
        key = (include.file, include.name)
        if key in self.exceptions:
            self.used_exceptions.add(key)
            return
        self.report(f"{include.file}:{include.line}", edge, rule)

    def run(self) -> list[str]:
        self.check_config()
        for path in self.sources("src/delenda"):
            self.check_layer_file(path)
        for path in self.sources("include/delenda"):
            self.check_public_file(path)
        for program in self.programs:
            for path in self.sources(program):
                self.check_program_file(path, program)
        self.check_public_count()
        self.check_cycles()
        self.check_cmake()
        self.check_exceptions()
        return self.breaches

    # Files and names

    def sources(self, folder: str) -> list[Path]:
        base = self.root / folder
        if not base.is_dir():
            return []
        found = sorted(p for p in base.rglob("*") if p.is_file() and p.suffix in SOURCE_SUFFIXES)
        for path in found:
            self.check_name(path)
        return found

    def relative(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def check_name(self, path: Path) -> None:
        relative = path.relative_to(self.root)
        for part in (*relative.parts[:-1], relative.stem):
            # "string_utils" says as little as "utils".
            if set(part.lower().split("_")) & set(self.config.get("forbidden_names", [])):
                self.report(f"{relative.as_posix()}:1", part, "forbidden-name")

    def includes(self, path: Path) -> list[Include]:
        found = []
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if match := INCLUDE.match(line):
                found.append(Include(self.relative(path), number, match[1] == "<", match[2]))
        return found

    def folder_of(self, name: str) -> str | None:
        """The layer of "delenda/x/y.h", the longest that fits; None if there is none."""
        folder = name.removeprefix("delenda/").rpartition("/")[0]
        while folder and folder not in self.layers:
            folder = folder.rpartition("/")[0]
        return folder or None

    def is_third_party(self, include: Include) -> bool:
        return include.angled and not SYSTEM_HEADERS.match(include.name) and not include.name.startswith("delenda/")

    # Rules for files

    def check_layer_file(self, path: Path) -> None:
        relative = self.relative(path)
        folder = self.folder_of(relative.removeprefix("src/"))
        if folder is None:
            self.report(f"{relative}:1", relative, "orphan")
            return
        layer = self.layers[folder]
        found = self.includes(path)
        if path.suffix == ".h":
            self.headers[relative] = found
        for include in found:
            if self.is_third_party(include):
                self.check_third_party(include, folder, layer, path.name)
            elif include.name.startswith("delenda/"):
                self.check_own(include, folder, layer)
            elif not include.angled:
                self.breach(include, f"{folder} -> {include.name}", "missing")

    def check_third_party(self, include: Include, folder: str, layer: dict, file_name: str) -> None:
        allowed = [*self.config.get("everywhere", []), *layer.get("third_party", [])]
        for pattern, prefixes in layer.get("third_party_files", {}).items():
            if fnmatch.fnmatch(file_name, pattern):
                allowed += prefixes
        if not include.name.startswith(tuple(allowed)):
            self.breach(include, f"{folder} -> <{include.name}>", "third-party")

    def check_own(self, include: Include, folder: str, layer: dict) -> None:
        if "/" not in include.name.removeprefix("delenda/"):
            header = include.name.removeprefix("delenda/")
            if not (self.root / "include" / include.name).is_file():
                self.breach(include, f"{folder} -> {include.name}", "missing")
            # What base may include, everyone above it sees through base anyway.
            elif not any(fnmatch.fnmatch(header, p) for p in [*layer.get("public", []), *self.base_public()]):
                self.breach(include, f"{folder} -> {include.name}", "public-below")
            return
        target = self.folder_of(include.name)
        if target is None:
            self.breach(include, f"{folder} -> {include.name}", "unknown-folder")
            return
        if not (self.root / "src" / include.name).is_file():
            self.breach(include, f"{folder} -> {include.name}", "missing")
        if target == folder:
            return
        self.folder_edges.setdefault(folder, {}).setdefault(target, include)
        own, other = layer["level"], self.layers[target]["level"]
        edge = f"{folder} (L{own}) -> {target} (L{other})"
        if other > own:
            self.breach(include, edge, "level")
        elif other == own:
            self.breach(include, edge, "same-level")
        elif target not in layer["sees"]:
            self.breach(include, edge, "not-visible")

    def base_public(self) -> list[str]:
        lowest = min(self.layers.values(), key=lambda layer: layer["level"], default={})
        return lowest.get("public", [])

    def check_public_file(self, path: Path) -> None:
        relative = self.relative(path)
        if len(path.relative_to(self.root / "include/delenda").parts) != 1:
            self.report(f"{relative}:1", "public headers lie flat in include/delenda", "orphan")
        found = self.includes(path)
        self.headers[relative] = found
        for include in found:
            if self.is_third_party(include):
                self.breach(include, f"public -> <{include.name}>", "public-third-party")
            elif include.name.startswith("delenda/"):
                self.check_public_include(include, "public")
            elif not include.angled:
                self.breach(include, f"public -> {include.name}", "missing")

    def check_public_include(self, include: Include, who: str) -> None:
        if "/" in include.name.removeprefix("delenda/"):
            self.breach(include, f"{who} -> {include.name}", "private")
        elif not (self.root / "include" / include.name).is_file():
            self.breach(include, f"{who} -> {include.name}", "missing")

    def check_program_file(self, path: Path, program: str) -> None:
        for include in self.includes(path):
            if include.name.startswith("delenda/"):
                self.check_public_include(include, program)
            elif self.is_third_party(include):
                allowed = (*self.config.get("everywhere", []), *self.programs[program].get("third_party", []))
                if not include.name.startswith(allowed):
                    self.breach(include, f"{program} -> <{include.name}>", "third-party")

    # Rules for the whole

    def check_config(self) -> None:
        for folder, layer in self.layers.items():
            for seen in layer["sees"]:
                if seen not in self.layers:
                    self.report("tools/layers.toml:1", f"{folder} -> {seen}", "unknown-folder")
                elif self.layers[seen]["level"] >= layer["level"]:
                    self.report("tools/layers.toml:1", f"{folder} -> {seen}", "levels")

    def check_public_count(self) -> None:
        count = len(list((self.root / "include/delenda").rglob("*.h")))
        limit = self.config.get("max_public_headers", 15)
        if count > limit:
            self.report("include/delenda:1", f"{count} public headers, {limit} allowed", "public-count")

    def check_cycles(self) -> None:
        def header_path(name: str) -> str:
            return f"src/{name}" if "/" in name.removeprefix("delenda/") else f"include/{name}"

        graph = {
            file: {header_path(i.name): i for i in found if i.name.startswith("delenda/")}
            for file, found in self.headers.items()
        }
        self.report_cycles(graph)
        self.report_cycles(self.folder_edges)

    def report_cycles(self, graph: dict[str, dict[str, Include]]) -> None:
        done: set[str] = set()

        def visit(node: str, trail: list[str]) -> None:
            for target, include in graph.get(node, {}).items():
                if target in trail:
                    loop = [*trail[trail.index(target) :], target]
                    self.report(f"{include.file}:{include.line}", " -> ".join(loop), "cycle")
                elif target not in done:
                    visit(target, [*trail, target])
            done.add(node)

        for node in sorted(graph):
            if node not in done:
                visit(node, [node])

    def check_cmake(self) -> None:
        """Compare the DEPS of every delenda_layer(...) call with what the folder sees."""
        path = self.root / "src/CMakeLists.txt"
        if not path.is_file():
            return
        text = re.sub(r"#[^\n]*", lambda m: " " * len(m[0]), path.read_text(encoding="utf-8"))
        variables = {m[1]: m[2].split() for m in re.finditer(r"\bset\(\s*(\w+)([^)]*)\)", text)}
        linked: set[str] = set()
        for call in re.finditer(r"\bdelenda_layer\(([^)]*)\)", text):
            line = text.count("\n", 0, call.start()) + 1
            words: list[str] = []
            for word in call[1].split():
                variable = re.fullmatch(r"\$\{(\w+)\}", word)
                words += variables.get(variable[1], []) if variable else [word]
            folder, deps, in_deps = words[0], set(), False
            for word in words[1:]:
                if word.isupper():
                    in_deps = word == "DEPS"
                elif in_deps:
                    deps.add(word)
            linked.add(folder)
            if folder not in self.layers:
                self.report(f"src/CMakeLists.txt:{line}", folder, "unknown-folder")
                continue
            sees = set(self.layers[folder]["sees"])
            for extra in sorted(deps - sees):
                self.report(f"src/CMakeLists.txt:{line}", f"{folder} links {extra}, which it does not see", "cmake")
            for lacking in sorted(sees - deps):
                self.report(f"src/CMakeLists.txt:{line}", f"{folder} sees {lacking}, but does not link it", "cmake")
        for folder in sorted(set(self.layers) - linked):
            self.report("src/CMakeLists.txt:1", f"{folder} has no target", "cmake")

    def check_exceptions(self) -> None:
        for key, exception in self.exceptions.items():
            edge = f"{key[0]} -> {key[1]}"
            if not str(exception.get("reason", "")).strip():
                self.report("tools/layers.toml:1", f"{edge}: no reason given", "exception")
            elif key not in self.used_exceptions:
                self.report("tools/layers.toml:1", f"{edge}: nothing needs it", "exception")


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks the include lines of the tree against tools/layers.toml.")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    with open(root / "tools/layers.toml", "rb") as file:
        config = tomllib.load(file)
    breaches = Checker(root, config).run()
    for breach in breaches:
        print(breach)
    print(f"layers: {len(breaches)} breaches", file=sys.stderr)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
