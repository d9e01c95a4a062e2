//! The program's own file: what takes it away, writes it, or ends what runs of it.

use crate::wire::bypass_detection::tests::guard;

#[test]
fn what_takes_the_program_away_is_refused_and_what_reads_it_passes() {
    let refused = [
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
    ];
    for command in refused {
        assert!(guard().command(command).is_some(), "{command}");
    }
    let passes = [
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
    ];
    for command in passes {
        assert_eq!(guard().command(command), None, "{command}");
    }
}
