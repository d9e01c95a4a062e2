#!/usr/bin/env python3
"""Holds a tag and an address against Cargo.toml, before anything is packed for them.

    release/tag.py TAG ADDRESS

TAG is `v` and the version of Cargo.toml. ADDRESS is that of the repository, without a slash at its end. Where Cargo.toml has no `repository`, it is
written there: npm's provenance and `cargo binstall` take it from the packages. Another one than ADDRESS is refused.
"""

import re
import sys
import tomllib
from pathlib import Path

MANIFEST = Path(__file__).resolve().parent.parent / "Cargo.toml"


def main(tag, address):
    text = MANIFEST.read_text()
    package = tomllib.loads(text)["package"]
    if tag != f"v{package['version']}":
        sys.exit(f"the tag is {tag}, and the version in Cargo.toml {package['version']}: tag v{package['version']}, or change the version")
    if package.get("repository", address) != address:
        sys.exit(f"Cargo.toml has repository = \"{package['repository']}\", and the tag is one of {address}: write that there, or take the line out")
    if "repository" not in package:
        MANIFEST.write_text(re.sub(r"^\[package\]\n", lambda head: f'{head[0]}repository = "{address}"\n', text, count=1, flags=re.M))
    print(f"{tag} of {address}")


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
