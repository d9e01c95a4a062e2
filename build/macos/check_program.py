#!/usr/bin/env python3
"""Holds a program for macOS arm64 against what a Mac asks of it before it runs it. `./check platforms` runs this on what it has built.

    build/macos/check_program.py FILE

The signature has to be there, ad hoc, and right for each page: macOS ends a program on arm64 whose signature is not. The least version is 11.0,
and only libraries and frameworks of the system are linked. Copies of the program that are wrong in one of these have to be refused.
Layouts are those of <mach-o/loader.h> and of Apple's <kern/cs_blobs.h>.
"""

import hashlib
import struct
import sys
from pathlib import Path

LEAST_VERSION = (11, 0, 0)
OF_THE_SYSTEM = ("/usr/lib/", "/System/Library/")
MAGIC_64, CPU_ARM64, EXECUTE, PLATFORM_MACOS = 0xFEEDFACF, 0x0100000C, 2, 1
CODE_SIGNATURE, BUILD_VERSION = 0x1D, 0x32
# Libraries: loaded, loaded where there, handed on, loaded late, loaded upward.
LIBRARIES = (0xC, 0x80000018, 0x8000001F, 0x20, 0x80000023)
SUPER_BLOB, CODE_DIRECTORY, ADHOC, SHA256 = 0xFADE0CC0, 0xFADE0C02, 0x2, 2


def commands(program):
    """Yields (kind, offset, size) of each load command."""
    magic, cpu, _, kind, count = struct.unpack_from("<5I", program)
    if (magic, cpu, kind) != (MAGIC_64, CPU_ARM64, EXECUTE):
        raise ValueError("it is no program for macOS arm64")
    at = 32
    for _ in range(count):
        command, size = struct.unpack_from("<2I", program, at)
        yield command, at, size
        at += size


def code_directory(program, at):
    """Returns where the first code directory of a signature begins."""
    magic, _, count = struct.unpack_from(">3I", program, at)
    if magic != SUPER_BLOB:
        raise ValueError("its signature is none")
    blobs = [at + struct.unpack_from(">2I", program, at + 12 + 8 * index)[1] for index in range(count)]
    found = [blob for blob in blobs if struct.unpack_from(">I", program, blob)[0] == CODE_DIRECTORY]
    if not found:
        raise ValueError("its signature has no code directory")
    return found[0]


def signature(program, at):
    """Yields what is wrong with the signature at an offset."""
    begin = code_directory(program, at)
    flags, hashes, _, _, pages, limit, width, kind, _, page_bits = struct.unpack_from(">6I4B", program, begin + 12)
    if not flags & ADHOC:
        yield "its signature is not ad hoc"
    if (kind, width) != (SHA256, 32):
        return (yield f"its pages are hashed by {kind}, not by SHA-256")
    if limit != at or pages != -(-limit >> page_bits):
        yield f"its signature covers {pages} pages of {limit} bytes, and the program before it has {at} bytes"
    for page in range(pages):
        content = program[page << page_bits:min((page + 1) << page_bits, limit)]
        kept = begin + hashes + page * width
        if hashlib.sha256(content).digest() != program[kept:kept + width]:
            yield f"page {page} is not what was signed"


def wrong(program):
    """Returns what is wrong with a program, and what it links."""
    found, signed, least, libraries = [], None, None, []
    for command, at, size in commands(program):
        if command == CODE_SIGNATURE:
            signed = struct.unpack_from("<I", program, at + 8)[0]
        elif command == BUILD_VERSION:
            platform, version = struct.unpack_from("<2I", program, at + 8)
            least = (version >> 16, version >> 8 & 255, version & 255)
            if platform != PLATFORM_MACOS:
                found.append(f"it is made for platform {platform}, not for macOS")
        elif command in LIBRARIES:
            name = at + struct.unpack_from("<I", program, at + 8)[0]
            libraries.append(program[name:at + size].split(b"\0")[0].decode())
    if least != LEAST_VERSION:
        found.append(f"it is made for macOS {least} and later, not {LEAST_VERSION}")
    found += [f"it links {name}, which is not the system's" for name in libraries if not name.startswith(OF_THE_SYSTEM)]
    found += ["it has no signature"] if signed is None else signature(program, signed)
    return found, libraries


def spoilt(program, libraries):
    """Yields copies of a program that a Mac would not run, and what is wrong with each."""
    def changed(at, content):
        return program[:at] + content + program[at + len(content):]
    places = {command: at for command, at, _ in commands(program)}
    yield "page ", changed(len(program) // 2, bytes([program[len(program) // 2] ^ 1]))
    yield "no signature", changed(places[CODE_SIGNATURE], struct.pack("<I", 0x29))
    yield "made for macOS", changed(places[BUILD_VERSION] + 12, struct.pack("<I", 12 << 16))
    yield "links", changed(program.index(libraries[0].encode()), b"/opt/")


def main(path):
    program = Path(path).read_bytes()
    found, libraries = wrong(program)
    if found:
        sys.exit("\n".join(f"{path}: {words}" for words in found))
    for words, other in spoilt(program, libraries):
        if not any(words in line for line in wrong(other)[0]):
            sys.exit(f"{path}: a copy of it in which this is wrong is taken: {words}")
    print(f"{path}: signed ad hoc, each page as signed; macOS {'.'.join(map(str, LEAST_VERSION[:2]))} and later; links {', '.join(libraries)}")


main(sys.argv[1])
