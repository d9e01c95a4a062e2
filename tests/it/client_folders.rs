//! A client is started only where it is sure in which folder: a `cd` can fail, be left out, be done again or in another process, and
//! then the client works in a folder whose settings nobody has read.
//!
//! The hooks are registered for one repository. `sub` is a folder of it, `lnk` leads to a folder elsewhere; above it nothing is limited.

use crate::client_starts::Bench;
use crate::world::TestWorld;

/// Ways in which a shell may be elsewhere than its text leads: each ends above the repository.
const UNSURE: [&str; 57] = [
    "cd nosuch; cd ..; claude -p x",
    "cd nosuch 2>/dev/null; cd ..; claude -p x",
    "cd nosuch && npm test; cd ..; claude -p x",
    "cd nosuch && npm test\ncd ..\nclaude -p x",
    "false && cd sub; cd ..; claude -p x",
    "true || cd sub; cd ..; claude -p x",
    "[ -d nosuch ] && cd sub; cd ..; claude -p x",
    "make && cd sub; cd ..; claude -p x",
    "cd sub & cd ..; claude -p x",
    "true && cd sub & cd ..; claude -p x",
    "cd sub | cat; cd ..; claude -p x",
    "true | cd sub; cd ..; claude -p x",
    "true |& cd sub; cd ..; claude -p x",
    "if false; then cd sub; fi; cd ..; claude -p x",
    "if true; then cd ..; else cd sub; fi; claude -p x",
    "while false; do cd sub; done; cd ..; claude -p x",
    "until true; do cd sub; done; cd ..; claude -p x",
    "for i in; do cd sub; done; cd ..; claude -p x",
    "case x in y) cd sub;; esac; cd ..; claude -p x",
    "case x in x) cd ..;; y) cd sub;; esac; claude -p x",
    "f(){ cd sub; }; cd ..; claude -p x",
    "function f { cd sub; }; cd ..; claude -p x",
    "f(){ claude -p x; }; cd ..; f",
    "f() (claude -p x); cd ..; f",
    "cd sub < nosuch; cd ..; claude -p x",
    "cd sub > nosuch/x; cd ..; claude -p x",
    "cd sub extra; cd ..; claude -p x",
    "cd -Q sub; cd ..; claude -p x",
    "for i in 1 2; do claude -p x; cd ..; done",
    "for i in 1 2; do cd sub && claude -p x; cd ../..; done",
    "i=0; while [ $i -lt 2 ]; do claude -p x; cd ..; i=$((i+1)); done",
    "g(){ claude -p x; cd ..; [ -n \"$A\" ] || { A=1; g; }; }; g",
    "{ cd sub; } & cd ..; claude -p x",
    "coproc cd sub; cd ..; claude -p x",
    "nohup cd sub; cd ..; claude -p x",
    "env cd sub; cd ..; claude -p x",
    "time cd .. && claude -p x",
    "time cd ..; claude -p x",
    "xargs cd sub </dev/null; cd ..; claude -p x",
    "cd -P lnk; cd ..; claude -p x",
    "cd -P lnk/..; claude -p x",
    "cd -P \"$PWD\"/lnk/.. && claude -p x",
    "set -P; cd lnk; cd ..; claude -p x",
    "set -o physical; cd lnk/..; claude -p x",
    "cd ./sub/nosuch/..; cd ..; claude -p x",
    "cd sub; cd ~-; cd ..; claude -p x",
    "X=cd; $X ..; claude -p x",
    "${X:-cd} ..; claude -p x",
    "until cd nosuch; do cd ..; claude -p x; break; done",
    "env -S '-C .. claude -p x'",
    "chroot --userspec=0 / claude -p x",
    "git init -q sub; cd sub; claude -p x",
    "cd sub && git init && claude -p x",
    "cd ..; true | cd PROJECT/sub && claude -p x",
    "cd ..; true | eval cd PROJECT/sub && claude -p x",
    "cd ..; true && cd PROJECT/sub & claude -p x",
    "cd ..; cd PROJECT/sub | true; claude -p x",
];

/// Ways in which work goes on that are as sure as they look.
const SURE: [&str; 26] = [
    "claude -p x",
    "cd sub && claude -p x",
    "cd sub; claude -p x",
    "set -e\ncd sub\nclaude -p x",
    "cd sub && make && cd .. && claude -p x",
    "cd sub; make; cd ..; claude -p x",
    "cd sub && make; cd ..; claude -p x",
    "make && cd sub && claude -p x",
    "test -d sub && cd sub &&\n  claude -p x",
    "cd sub || exit 1; claude -p x",
    "(cd sub && make); claude -p x",
    "(cd sub || exit; claude -p x)",
    "for i in 1 2; do (cd sub && claude -p \"do $i\"); done",
    "cd sub\nfor f in a b; do claude -p \"$f\" > $f.txt; done",
    "while read t; do claude -p \"$t\"; done < tasks",
    "f() { claude -p \"$1\"; }; f a; f b",
    "if [ -f plan.md ]; then claude -p 'do plan.md'; fi",
    "case $1 in a) claude -p x;; esac",
    "timeout 60 claude -p x | tee out.txt &",
    "env -S 'A=1 claude -p x'",
    "source venv/bin/activate && claude -p x",
    "git init -q other && claude -p x",
    "cat plan.md | (cd sub && claude -p x)",
    "(cd PROJECT/sub && claude -p x) & wait",
    "cd PROJECT/sub && claude -p x | tee out.txt",
    "{ cd PROJECT/sub && claude -p x; } | tee out.txt",
];

fn bench() -> Bench {
    let bench = Bench::of(TestWorld::with_git(), "local");
    bench.world.write("project/sub/x", "");
    bench.world.write("far/off/x", "");
    std::os::unix::fs::symlink(bench.world.path("far/off"), bench.world.path("project/lnk")).unwrap();
    bench
}

/// Returns a way with the repository's whole path.
fn in_project(bench: &Bench, way: &str) -> String {
    way.replace("PROJECT", bench.world.path("project").to_str().unwrap())
}

#[test]
fn a_client_is_not_started_where_it_may_be_elsewhere() {
    let bench = bench();
    let passed: Vec<_> = UNSURE.iter().filter(|way| !bench.refuses(&in_project(&bench, way))).collect();
    assert!(passed.is_empty(), "{} of {}: {passed:#?}", passed.len(), UNSURE.len());
}

#[test]
fn a_client_is_started_where_it_is_sure_to_be_limited() {
    let bench = bench();
    let refused: Vec<_> = SURE.iter().filter(|way| bench.refuses(&in_project(&bench, way))).collect();
    assert!(refused.is_empty(), "{} of {}: {refused:#?}", refused.len(), SURE.len());
}
