//! The program's own file: what takes it away, writes it, or ends what runs of it.

use crate::wire::bypass_detection::tests::guard;

/// What takes the program away, or writes what is the session's own.
const REFUSED: &[&str] = &[
    "cp /bin/true /opt/lib/fusebox-1/fusebox",
    "ln -sfn /bin/true /opt/lib/fusebox-1/fusebox",
    "rm -rf /opt/lib/fusebox-1",
    "chmod 000 /opt/lib/fusebox-1/fusebox",
    "gzip -f /opt/bin/fusebox",
    "zstd -q --rm /opt/bin/fusebox",
    "objcopy /opt/bin/fusebox x",
    "strip /opt/bin/fusebox",
    "gcc -o /opt/bin/fusebox x.c",
    "rustc -o /opt/bin/fusebox x.rs",
    "xxd -r -p x /opt/bin/fusebox",
    "exch /opt/bin/fusebox /bin/true",
    "upx /opt/bin/fusebox",
    "rename s/x/y/ /opt/bin/fusebox",
    "vim -c wq /opt/bin/fusebox",
    "gpg -o /opt/bin/fusebox -d x",
    "fuser -k ~/.local/state/fusebox/state.db",
    "cargo uninstall fusebox-cli",
    "npm uninstall -g fusebox-cli",
    "brew unlink fusebox-cli",
    "sudo apt-get remove -y fusebox-cli",
    "kill $(pgrep fusebox)",
    "pidof fusebox | xargs kill",
    "ps -C fusebox -o pid= | xargs kill",
    "ps aux | grep fusebox | awk '{print $2}' | xargs kill -9",
    "pgrep -f 'fusebox hook' | xargs -r kill -STOP",
    "start-stop-daemon --stop --name fusebox",
    "pkill box; echo fusebox",
    "fusebox run --summary /opt/bin/fusebox -- true",
    "fusebox run --summary=.claude/fusebox.json -- true",
    "fusebox run --summary ~/.local/state/fusebox/state.db -- claude -p x",
    "git bundle create /opt/bin/fusebox HEAD",
    "git archive -o .claude/fusebox.json HEAD",
    "zstd -f a.txt -o /opt/bin/fusebox",
    "shuf -o .claude/fusebox.json a.txt",
    "docker cp c:/a /opt/bin/fusebox",
    "kubectl cp p:/a ~/.local/state/fusebox/state.db",
    "pytest --junitxml=/opt/bin/fusebox",
    "eslint -o .claude/fusebox.json .",
    "terraform plan -out=/opt/bin/fusebox",
    "socat - OPEN:/opt/bin/fusebox,creat,trunc",
    "ssh-keygen -t ed25519 -f /opt/bin/fusebox",
    "xmllint --output .claude/fusebox.json a.xml",
    "7z a /opt/bin/fusebox a",
    "lz4 -f a /opt/bin/fusebox",
    "brotli -f a -o /opt/bin/fusebox",
    "fallocate -l 9 /opt/bin/fusebox",
    "ex -sc 'w! /opt/bin/fusebox' a",
    "vim -es -c 'w! .claude/fusebox.json' -c q a",
    "bun build --outfile /opt/bin/fusebox a.ts",
    "tsc --outFile .claude/fusebox.json a.ts",
    "ffmpeg -i a.mp4 /opt/bin/fusebox",
];

/// What only reads it, or is another's.
const PASSES: &[&str] = &[
    "gzip -k /opt/bin/fusebox",
    "gzip fusebox.txt",
    "zstd /opt/bin/fusebox -o x.zst",
    "xxd /opt/bin/fusebox",
    "sha256sum /opt/lib/fusebox-1/fusebox",
    "gcc -o fusebox-demo x.c",
    "strip target/release/fusebox",
    "vim docs/fusebox.md",
    "cargo uninstall ripgrep",
    "npm uninstall left-pad && echo no fusebox",
    "cargo install fusebox-cli",
    "pgrep fusebox",
    "ps aux | grep fusebox",
    "npm rm -g fusebox",
    "pgrep node | xargs kill; ls ~/fusebox",
    "pkill boxes; echo fusebox",
    "fusebox run --summary summary.json -- claude -p 'write .claude/fusebox.json'",
    "sqlite3 ~/.local/state/fusebox/state.db 'SELECT * FROM run'",
    "ls -la ~/.local/state/fusebox /opt/bin/fusebox; file /opt/bin/fusebox; which fusebox",
    "timeout 5 /opt/bin/fusebox status; env X=1 /opt/bin/fusebox report; hyperfine /opt/bin/fusebox",
    "env -i FUSEBOX_HOME=/home/you/.local/state/fusebox make test; sudo -E nice /opt/bin/fusebox status",
    "unshare -rpf --mount-proc env -i FUSEBOX_HOME=$FUSEBOX_HOME make; FUSEBOX_HOME=~/.local/state/fusebox cargo test",
    "docker run -e FUSEBOX_HOME=/home/you/.local/state/fusebox x; systemd-run -E FUSEBOX_HOME=/home/you/.local/state/fusebox x",
    "gdb --args /opt/bin/fusebox status; ldd /opt/bin/fusebox | grep -o fusebox",
    "npx ajv validate -s docs/fusebox.schema.json -d .claude/fusebox.json",
    "check-jsonschema --schemafile s.json .claude/fusebox.json",
    "python3 build/check_program.py /opt/bin/fusebox; bash tests/size.sh /opt/bin/fusebox",
    "git add .claude/fusebox.json && git commit -m 'limits: /opt/bin/fusebox reads .claude/fusebox.json'",
    "git log -o --oneline -- .claude/fusebox.json; git diff --stat .claude/fusebox.json",
    "tsc -p . && node dist/fusebox.js; du -sh ~/.local/state/fusebox; diff .claude/fusebox.json a.json",
    "gh pr create --title 'say what /opt/bin/fusebox does' --body-file notes.md",
];

#[test]
fn what_takes_the_program_away_is_refused_and_what_reads_it_passes() {
    let missed: Vec<&&str> = REFUSED.iter().filter(|command| guard().command(command).is_none()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    for command in PASSES {
        assert_eq!(guard().command(command), None, "{command}");
    }
}
