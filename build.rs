//! Has the linker put the functions of a hook call side by side (`src/hook.ld`) in the static build. Without that it is slower, and as
//! right: a linker that does not understand it is not asked to.

#![expect(clippy::disallowed_methods, reason = "Cargo tells a build script what it is to do in its environment")]
#![expect(clippy::disallowed_macros, reason = "and listens to its standard output")]

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/hook.ld");
    let is_static = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|libc| libc == "musl");
    if let Ok(folder) = env::var("CARGO_MANIFEST_DIR")
        && is_static
        && understands()
    {
        println!("cargo::rustc-link-arg-bins=-T{folder}/src/hook.ld");
    }
}

/// Whether the linker is GNU's or LLVM's: others know no `INSERT`.
fn understands() -> bool {
    let driver = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let said = Command::new(driver).arg("-Wl,--version").output().map(|output| output.stdout).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    said.contains("GNU ld") || said.contains("LLD")
}
