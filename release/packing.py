"""From a clean clone of a tag to packages, and what is held of these before anybody installs them."""

import json
import os
import shutil
import tarfile
import tomllib
import zipfile
from pathlib import Path

import loopback
from steps import fail, run, say, skip

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
NAME, VERSION = MANIFEST["name"], MANIFEST["version"]
TAG = f"v{VERSION}"
TARGET = "x86_64-unknown-linux-musl"
# What npm fetches for a user of Linux x64 before the first hook runs, in bytes: what is wanted, and what is held until it is reached. Code compresses to
# 0.52 of its size, so it takes about 1.4 MB less of it.
WANTED_FETCHED, MOST_FETCHED = 3_000_000, 3_970_000
SHIPPED = ["cargo", "build", "--locked", "--profile", "dist", "--target", TARGET]
# Where the programs that check texts are installed from, pinned: they are no part of what is shipped.
GRAMMAR = ["tree-sitter==0.26.1", "tree-sitter-powershell==0.26.4"]


def clones(folder):
    """Returns two clones of this commit's tag, whose paths differ in name and length."""
    origin = folder / "origin"
    run(["git", "clone", "-q", "--no-local", ROOT, origin])
    run(["git", "-C", origin, "tag", "-f", TAG])
    paths = [folder / "clone", folder / "elsewhere/another-clone-of-the-tag"]
    for path in paths:
        run(["git", "-c", "advice.detachedHead=false", "clone", "-q", "--no-local", "--branch", TAG, origin, path])
    return paths


def build(clone):
    """Builds the program as it is shipped, from nothing; returns it."""
    own = {key: value for key, value in os.environ.items() if key not in ("RUSTFLAGS", "CARGO_TARGET_DIR")}
    run(SHIPPED, cwd=clone, env=own)
    return clone / "target" / TARGET / "dist/fusebox"


def same(one, other, what):
    differs = run(["diff", "-r", "--no-dereference", one, other], check=False)
    if differs.returncode != 0:
        fail(f"{what}: not the same bytes:\n{differs.stdout}{differs.stderr}")
    say(f"{what}: the same bytes")


def programs(folder, given, paths):
    """Returns a folder of built programs for each clone. A given program stands for both."""
    found = []
    for clone, name in zip(paths, ["binaries", "binaries-again"]):
        kept = folder / name / TARGET
        kept.mkdir(parents=True)
        shutil.copy(given or build(clone), kept / "fusebox")
        found.append(folder / name)
    if given:
        skip(f"the build from two clones of the tag: {given} was given")
    return found


def takes_no_other(clone, address):
    """A tag of another version is refused, and so is another address than the one that Cargo.toml has."""
    run([clone / "release/tag.py", TAG, address])
    for wrong in [[f"{TAG}1", address], [TAG, f"{address}/of/another"]]:
        if run([clone / "release/tag.py", *wrong], check=False).returncode == 0:
            fail(f"a tag that does not belong to Cargo.toml was taken: {wrong}")


def packages(folder, given):
    """Builds and packs two clones of the tag; returns the clone, the folder of what was packed, and the address that it is served at."""
    paths = clones(folder)
    built = programs(folder, given, paths)
    man = folder / "man"
    run(["cargo", "run", "-q", "--locked", "--example", "man", "--", man], cwd=ROOT if given else paths[0])
    outs = [folder / "packed", folder / "again"]
    address = loopback.files(outs[0] / "files")
    base = f"{address}/releases/download/{TAG}"
    for clone, binaries, out in zip(paths, built, outs):
        takes_no_other(clone, address)
        said = run([clone / "release/package.py", "--binaries", binaries, "--man", man, "--base", base, "--out", out])
    say(said.stdout.rstrip())
    for left_out in said.stderr.splitlines():
        skip(left_out)
    if not given:
        same(*built, "built from two clones of the tag")
    same(*outs, "packed from each clone")
    fetched(outs[0])
    return paths[0], outs[0], base


def fetched(packed):
    """Holds the size of what npm fetches for Linux x64."""
    size = (packed / "npm" / f"{NAME}-linux-x64-{VERSION}.tgz").stat().st_size
    if size > MOST_FETCHED:
        fail(f"npm's package for Linux x64 has {size} bytes, at most {MOST_FETCHED}")
    say(f"npm's package for Linux x64 has {size} bytes, at most {MOST_FETCHED}; {WANTED_FETCHED} are wanted")


def contents(path):
    """Returns the files of an archive by their names below its one folder."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    with tarfile.open(path) as tar:
        return {name.partition("/")[2]: tar.extractfile(name).read() for name in tar.getnames()}


def licences(clone, packed):
    """Every package that is handed on has the licences in it, and what has a program in it the notices of its parts."""
    own = {"LICENSE-MIT", "LICENSE-APACHE"}
    # The clone has its own address in Cargo.toml by now.
    listed = set(run(["cargo", "package", "--list", "--locked", "--allow-dirty"], cwd=clone).stdout.splitlines())
    found = {"cargo": {name: b"" for name in listed}}
    for path in [*packed.glob("npm/*.tgz"), *packed.glob("files/*.tar.gz"), *packed.glob("files/*.zip")]:
        found[path.name] = contents(path)
    folder = packed / "plugin/fusebox"
    found["plugin"] = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for package, files in found.items():
        has_program = any(name.endswith((".exe", "bin/fusebox")) or name == "fusebox" for name in files)
        lacks = (own | ({"THIRD-PARTY"} if has_program else set())) - files.keys()
        if lacks:
            fail(f"{package} lacks {sorted(lacks)}")
        parts = [part for part in [b"rusqlite", b"SQLite", b"Rust standard library", b"uPlot"] if part not in files.get("THIRD-PARTY", part)]
        if has_program and parts:
            fail(f"THIRD-PARTY of {package} does not name {parts}")
    say(f"{'licences':<24} are in each of {len(found)} packages")


def binstall(clone, packed):
    """What `cargo binstall` makes of Cargo.toml leads to the archive of each system, and to the program in it."""
    package = tomllib.loads((clone / "Cargo.toml").read_text())["package"]
    told = package["metadata"]["binstall"]
    served = 0
    rows = {row["target"]: row for row in json.loads((clone / "release/targets.json").read_text())}
    # Who builds with Microsoft's tools is brought the same program.
    rows["x86_64-pc-windows-msvc"] = rows["x86_64-pc-windows-gnu"]
    for target, row in rows.items():
        said = {key: told[key] for key in ["pkg-url", "pkg-fmt", "bin-dir"]} | told["overrides"].get(target, {})
        ending = ".exe" if row["os"] == "win32" else ""
        values = {"repo": package["repository"], "name": NAME, "version": VERSION, "target": target, "bin": "fusebox", "binary-ext": ending}
        for name, value in values.items():
            said = {key: text.replace(f"{{ {name} }}", value) for key, text in said.items()}
        archive = f"{NAME}-{VERSION}-{row['target']}.{row['archive']}"
        if not said["pkg-url"].endswith(f"/releases/download/{TAG}/{archive}") or {"tgz": "tar.gz"}.get(said["pkg-fmt"], "zip") != row["archive"]:
            fail(f"cargo binstall looks for {said} on {target}, and there is {archive}")
        if (packed / "files" / archive).is_file():
            run(["curl", "-fsS", "-o", packed.parent / archive, said["pkg-url"]])
            top, _, program = said["bin-dir"].partition("/")
            if f"{top}." not in archive or program not in contents(packed.parent / archive):
                fail(f"cargo binstall looks for {said['bin-dir']}, and {archive} does not have it")
            served += 1
    say(f"{'cargo binstall':<24} would find {served} archives that are served, and names {len(rows)} right")


def formula(packed):
    """Ruby takes the formula, where there is one."""
    if not shutil.which("ruby"):
        return skip("the Homebrew formula is not parsed: `apt-get install ruby`")
    run(["ruby", "-c", packed / "files" / f"{NAME}.rb"])
    say(f"{'the formula':<24} is parsed by Ruby; Homebrew did not run it")


PARSE = """
import sys, tree_sitter, tree_sitter_powershell
parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))
wrong = [path for path in sys.argv[1:] if parser.parse(open(path, "rb").read()).root_node.has_error]
sys.exit(f"cannot be parsed: {wrong}" if wrong else 0)
"""


def powershell(packed):
    """PowerShell takes its scripts, where there is one; a grammar of its language does otherwise. A script with a mistake is refused by both."""
    good = [packed / "files/install.ps1", packed.parent / "completions.ps1"]
    program = packed.parent / "binaries" / TARGET / "fusebox"
    good[1].write_text(run([program, "completions", "powershell"]).stdout)
    bad = packed.parent / "bad.ps1"
    bad.write_text(good[0].read_text().replace("if (-not $line) {", "if (-not $line {"))
    if shutil.which("pwsh"):
        ask = ("$bad = $null; foreach ($file in $args) { [void][System.Management.Automation.Language.Parser]::ParseFile($file, [ref]$null, [ref]$bad);"
               " if ($bad) { $bad; exit 1 } }")
        parse, by = ["pwsh", "-NoProfile", "-Command", f"& {{ {ask} }}"], "PowerShell"
    else:
        tools = packed.parent / "grammar"
        run(["python3", "-m", "venv", tools])
        if run([tools / "bin/pip", "install", "-q", *GRAMMAR], check=False).returncode != 0:
            return skip(f"install.ps1 is not parsed: there is no pwsh, and pip cannot bring {GRAMMAR}")
        parse, by = [tools / "bin/python", "-c", PARSE], "a grammar of the language"
    run([*parse, *good])
    if run([*parse, bad], check=False).returncode == 0:
        fail(f"{by} takes a script with a mistake in it")
    say(f"{'PowerShell':<24} install.ps1 and the completions are parsed by {by}; neither ran")
