#!/usr/bin/env python3
"""Makes everything that a release consists of from built programs: npm packages, archives, install scripts, formula, plugin, SBOM, checksums.

    release/package.py --binaries FOLDER --man FOLDER --base URL --out FOLDER

FOLDER of binaries holds TARGET/fusebox (or fusebox.exe) for each row of targets.json that is to be packed; rows without one are left out, and
named. Two runs give the same bytes: times are SOURCE_DATE_EPOCH (else that of the last commit), owners nobody, names sorted.
"""

import argparse
import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path
from time import gmtime

import third_party

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
NAME, VERSION = MANIFEST["name"], MANIFEST["version"]
TARGETS = json.loads((ROOT / "release/targets.json").read_text())
# The licences, which everything that is handed on has in it.
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"]
# Shells with completions, and where their scripts lie in an archive.
SHELLS = {"bash": "completions/fusebox.bash", "zsh": "completions/_fusebox", "fish": "completions/fusebox.fish",
          "powershell": "completions/fusebox.ps1"}


def moment():
    """Returns the time that every packed file has, in seconds since 1970."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or subprocess.check_output(["git", "-C", ROOT, "log", "-1", "--format=%ct"]))


def gzipped(content):
    """Compresses by zopfli, some 3 % denser than gzip's own best, in seconds; what unpacks it sees no difference."""
    if not shutil.which("zopfli"):
        sys.exit("zopfli is missing: `apt-get install zopfli`, or `brew install zopfli`")
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        return subprocess.check_output(["zopfli", "-c", "--i5", file.name])


def tar_gz(files, top):
    """Packs a list of (name, bytes, is_program) below the folder `top`."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content, is_program in sorted(files):
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mtime, entry.mode = len(content), moment(), 0o755 if is_program else 0o644
            tar.addfile(entry, io.BytesIO(content))
    return gzipped(packed.getvalue())


def zipped(files, top):
    """The same as a zip file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content, is_program in sorted(files):
            entry = zipfile.ZipInfo(f"{top}/{name}", gmtime(max(moment(), 315532800))[:6])
            entry.create_system, entry.external_attr = 3, (0o100755 if is_program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return packed.getvalue()


def as_json(value):
    return (json.dumps(value, indent=2) + "\n").encode()


def program_name(row):
    return "fusebox.exe" if row["os"] == "win32" else "fusebox"


def package_name(row):
    return f"{NAME}-{row['os']}-{row['cpu']}"


def about(name, more):
    """Returns the package.json of an npm package. None has scripts: npm runs none unless it is told to."""
    common = {"name": name, "version": VERSION, "description": MANIFEST["description"], "license": MANIFEST["license"]}
    if "repository" in MANIFEST:
        common["repository"] = {"type": "git", "url": MANIFEST["repository"]}
    return as_json(common | more)


def licences():
    return [(name, (ROOT / name).read_bytes(), False) for name in LICENCES]


def notices(row):
    """Returns the notices of what is compiled into the program for a system."""
    return ("THIRD-PARTY", third_party.third_party(ROOT, row["target"]), False)


def npm_packages(rows):
    """Returns the npm packages as (name, bytes): one for each system first, the wrapper that names them last."""
    beside = [("README.md", (ROOT / "release/npm/README.md").read_bytes(), False), *licences()]
    packages = []
    for row, program in rows:
        where = f"bin/{program_name(row)}"
        said = about(package_name(row), {"os": [row["os"]], "cpu": [row["cpu"]], "bin": {"fusebox": where}, "files": [where, "THIRD-PARTY"]})
        files = [("package.json", said, False), (where, program, True), notices(row), *beside]
        packages.append((package_name(row), tar_gz(files, "package")))
    optional = {package_name(row): VERSION for row, _ in rows}
    said = about(NAME, {"bin": {"fusebox": "bin/fusebox.js"}, "files": ["bin/fusebox.js"], "engines": {"node": ">=18"},
                        "optionalDependencies": optional})
    launcher = (ROOT / "release/npm/fusebox.js").read_bytes()
    files = [("package.json", said, False), ("bin/fusebox.js", launcher, True), *beside]
    return packages + [(NAME, tar_gz(files, "package"))]


def beside(man, completions):
    """Returns what the archives of all systems hold beside the program: man pages, completions, the README, the licences."""
    pages = [(f"man/{page.name}", page.read_bytes(), False) for page in sorted(man.glob("*.1"))]
    scripts = [(SHELLS[shell], script, False) for shell, script in completions.items()]
    return pages + scripts + [(name, (ROOT / name).read_bytes(), False) for name in ["README.md", "CHANGELOG.md"]] + licences()


def archive_name(row):
    return f"{NAME}-{VERSION}-{row['target']}.{row['archive']}"


def archives(rows, others):
    for row, program in rows:
        files, top = [(program_name(row), program, True), notices(row), *others], f"{NAME}-{VERSION}-{row['target']}"
        yield archive_name(row), (zipped if row["archive"] == "zip" else tar_gz)(files, top)


def formula(base, hashes):
    """Returns the Homebrew formula for the archives that are there."""
    def block(row):
        system, cpu = {"darwin": "macos"}.get(row["os"], row["os"]), {"x64": "intel", "arm64": "arm"}[row["cpu"]]
        name = archive_name(row)
        return (f"  on_{system} do\n    on_{cpu} do\n      url \"{base}/{name}\"\n      sha256 \"{hashes[name]}\"\n"
                "    end\n  end\n")
    blocks = "".join(block(row) for row in TARGETS if row["os"] != "win32" and archive_name(row) in hashes)
    words = "".join(word.capitalize() for word in NAME.split("-"))
    return (ROOT / "release/formula.rb").read_text().replace("@CLASS@", words).replace("@ABOUT@", MANIFEST["description"]) \
        .replace("@VERSION@", VERSION).replace("@LICENSES@", ", ".join(f'"{it}"' for it in MANIFEST["license"].split(" OR "))) \
        .replace("@BLOCKS@\n", blocks)


def sbom():
    """Returns the packages that the program is made of, as CycloneDX 1.5, from Cargo.lock as cargo resolves it."""
    said = json.loads(subprocess.check_output(
        ["cargo", "metadata", "--locked", "--format-version", "1"], cwd=ROOT))
    nodes = {node["id"]: node for node in said["resolve"]["nodes"]}
    wanted, todo = set(), [said["resolve"]["root"]]
    while todo:
        current = todo.pop()
        if current not in wanted:
            wanted.add(current)
            todo += [dep["pkg"] for dep in nodes[current]["deps"] if any(kind["kind"] != "dev" for kind in dep["dep_kinds"])]
    def component(package):
        purl = f"pkg:cargo/{package['name']}@{package['version']}"
        licence = {"licenses": [{"expression": package["license"].replace("/", " OR ")}]} if package["license"] else {}
        return {"type": "library", "name": package["name"], "version": package["version"], "purl": purl, "bom-ref": purl} | licence
    packages = sorted((it for it in said["packages"] if it["id"] in wanted), key=lambda it: (it["name"], it["version"]))
    own = next(it for it in packages if it["id"] == said["resolve"]["root"])
    copied = [{"type": "library", "name": name, "version": version, "purl": f"{address}@{version}", "bom-ref": f"{address}@{version}",
               "licenses": [{"expression": licence}]} for name, version, licence, address, _ in third_party.vendored(ROOT)]
    parts = [component(it) for it in packages if it is not own] + copied
    return as_json({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
                    "metadata": {"component": component(own) | {"type": "application"}}, "components": parts})


def completions(program):
    """Asks the program of this machine for its completions."""
    return {shell: subprocess.check_output([program, "completions", shell]) for shell in SHELLS}


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def plugin(out, rows, packed):
    """Writes the repository of the plugin: a marketplace with one plugin in it, which npm brings the program for."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ROOT / "plugin", out)
    described = out / "fusebox/.claude-plugin/plugin.json"
    described.write_bytes(as_json(json.loads(described.read_text()) | {"version": VERSION}))
    wanted = {package_name(row): VERSION for row, _ in rows}
    root = {"name": f"{NAME}-plugin", "version": VERSION, "optionalDependencies": wanted}
    locked = {"": root}
    for row, _ in rows:
        whole = "sha512-" + base64.b64encode(hashlib.sha512(packed[package_name(row)]).digest()).decode()
        locked[f"node_modules/{package_name(row)}"] = {
            "version": VERSION, "integrity": whole, "cpu": [row["cpu"]], "os": [row["os"]], "optional": True,
            "license": MANIFEST["license"], "bin": {"fusebox": f"bin/{program_name(row)}"}}
    write(out / "fusebox/package.json", as_json(root | {"private": True}))
    write(out / "fusebox/package-lock.json", as_json({"name": root["name"], "version": VERSION, "lockfileVersion": 3,
                                                      "requires": True, "packages": locked}))
    for name, content, _ in licences():
        write(out / "fusebox" / name, content)
    (out / "fusebox/bin").mkdir(exist_ok=True)
    (out / "fusebox/bin/fusebox").symlink_to("../node_modules/.bin/fusebox")
    for row, program in rows:
        if row["os"] == "win32":
            write(out / "fusebox/bin/fusebox.exe", program)
            write(out / "fusebox/THIRD-PARTY", notices(row)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ["binaries", "man", "out"]:
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--base", required=True, help="the address of the folder that archives are fetched from")
    parser.add_argument("--native", type=Path, help="a program that runs here, which is asked for its completions")
    given = parser.parse_args()
    rows = [(row, given.binaries / row["target"] / program_name(row)) for row in TARGETS]
    for row, path in rows:
        if not path.is_file():
            print(f"left out: {row['target']}: there is no {path}", file=sys.stderr)
    rows = [(row, path) for row, path in rows if path.is_file()]
    native = given.native or next(path for row, path in rows if row["os"] == "linux" and row["cpu"] == "x64")
    others = beside(given.man, completions(native))
    rows = [(row, path.read_bytes()) for row, path in rows]
    out = given.out
    packed = dict(npm_packages(rows))
    for name, content in packed.items():
        write(out / "npm" / f"{name}-{VERSION}.tgz", content)
    files = dict(archives(rows, others))
    files[f"{NAME}-{VERSION}.cdx.json"] = sbom()
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    files[f"{NAME}.rb"] = formula(given.base, hashes).encode()
    for script in ["install.sh", "install.ps1"]:
        text = (ROOT / "release" / script).read_text()
        files[script] = text.replace("@NAME@", NAME).replace("@VERSION@", VERSION).replace("@BASE@", given.base).encode()
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    files["SHA256SUMS"] = "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes)).encode()
    for name, content in files.items():
        write(out / "files" / name, content)
    plugin(out / "plugin", rows, packed)
    for path in sorted([*(out / "npm").iterdir(), *(out / "files").iterdir()]):
        print(f"{path.stat().st_size:>9}  {path.relative_to(out)}")


main()
