//! Has the linker put the functions of a hook call side by side (`build/order.ld`) in the static build. Without that it is slower, and as
//! right: a linker that may not understand it is not asked to. Tables for unwinding are left out where nothing unwinds: 320 kB.

#![expect(clippy::disallowed_methods, reason = "Cargo tells a build script what it is to do in its environment")]
#![expect(clippy::disallowed_macros, reason = "and listens to its standard output")]

use std::env;
use std::process::Command;

const ORDER: &str = "build/order.ld";
const NO_UNWINDING: &str = "build/no_unwinding.ld";

fn main() {
    for script in [ORDER, NO_UNWINDING] {
        println!("cargo::rerun-if-changed={script}");
    }
    let is_static = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|libc| libc == "musl");
    if let Ok(folder) = env::var("CARGO_MANIFEST_DIR")
        && is_static
        && understands()
    {
        println!("cargo::rustc-link-arg-bins=-T{folder}/{ORDER}");
        // Cargo does not say how this profile panics: all that are made of `release` abort.
        if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
            println!("cargo::rustc-link-arg-bins=-T{folder}/{NO_UNWINDING}");
        }
    }
}

/// Whether the linker is GNU's or LLVM's, as far as can be known here: others read no such script.
fn understands() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if ["fuse-ld", "ld-path", "linker"].iter().any(|other| flags.contains(other)) {
        return false;
    }
    let driver = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let said = Command::new(driver).arg("-Wl,--version").output().map(|output| output.stdout).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    // Some say that they are compatible with GNU ld, and are not.
    said.starts_with("GNU ld") || said.starts_with("LLD")
}
