//! The service that keeps `fusebox watch` at work is a person's to end.

use crate::wire::bypass_detection::tests::guard;

#[test]
fn the_service_of_the_watch_is_a_persons() {
    for command in [
        "systemctl --user stop fusebox-watch",
        "systemctl --user disable --now fusebox-watch.service",
        "systemctl --user mask fusebox-watch.service",
        "systemctl --user stop 'fusebox*'",
        "launchctl bootout gui/501/fusebox.watch",
        "rm ~/.config/systemd/user/fusebox-watch.service",
        "cd ~/.config/systemd/user && rm fusebox-*",
        "rm ~/.config/systemd/us*/fusebox-watch.service",
        "echo > ~/Library/LaunchAgents/fusebox.watch.plist",
        "fusebox watch --once",
        "fusebox watch --uninstall",
    ] {
        assert!(guard().command(command).is_some(), "{command}");
    }
    for command in [
        "systemctl --user status fusebox-watch",
        "systemctl --user stop other",
        "sudo systemctl stop fusebox",
        "cat ~/.config/systemd/user/fusebox-watch.service",
        "rm -f /tmp/fusebox-*",
        "rm -rf target/fusebox-*; rm -f fusebox-*.tgz",
        "cp packaging/fusebox-watch.service /tmp/x",
        "sed -i s/a/b/ systemd/fusebox-watch.service",
        "fusebox watch --help",
    ] {
        assert_eq!(guard().command(command), None, "{command}");
    }
}
