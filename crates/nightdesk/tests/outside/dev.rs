//! `nightdesk dev`: a trial desk.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::desk::{ask, free_port, get, wait_until};

/// A trial desk that also ends if the test fails.
struct Dev {
    child: Child,
    port: u16,
    temporary: tempfile::TempDir,
}

impl Dev {
    fn start() -> Self {
        let (port, temporary) = (free_port(), tempfile::tempdir().expect("a folder"));
        // PostgreSQL runs as another user when the test runs as root.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(temporary.path(), open).expect("open the folder");
        let child = Command::new(env!("CARGO_BIN_EXE_nightdesk"))
            .args(["dev", "--listen", &format!("127.0.0.1:{port}")])
            .env("TMPDIR", temporary.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        Self { child: child.expect("the binary runs"), port, temporary }
    }

    /// Returns the path of the chat that it prints first.
    fn chat(&mut self) -> String {
        let mut line = String::new();
        let printed = self.child.stdout.as_mut().expect("its output");
        BufReader::new(printed.by_ref()).read_line(&mut line).expect("a line");
        let own = line.strip_prefix(&format!("chat: http://127.0.0.1:{}", self.port));
        own.expect("the chat's address").trim_end().to_owned()
    }

    fn left(&self) -> usize {
        left_in(self.temporary.path())
    }
}

fn left_in(folder: &Path) -> usize {
    std::fs::read_dir(folder).expect("its folder").count()
}

impl Drop for Dev {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn a_message_is_answered_and_nothing_is_left_behind() {
    let mut dev = Dev::start();
    let chat = dev.chat();
    assert!(dev.left() > 0, "its PostgreSQL is in there");
    let page = get(dev.port, &chat);
    let cookie = page.lines().find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = cookie.and_then(|set| set.split(';').next()).expect("a session");
    let with = format!("cookie: {cookie}\r\n");
    let body = r#"{"nonce":"n1","text":"knock knock"}"#;
    let length = body.len();
    let rest =
        format!("{with}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}");
    let sent = ask(dev.port, "POST", &format!("{chat}/messages"), &rest);
    assert!(sent.contains(r#""result":"sent""#), "{sent}");

    wait_until("the echo answers", || {
        let page = ask(dev.port, "GET", &chat, &format!("{with}\r\n"));
        page.matches("knock knock").count() == 2
    });
    let pid = dev.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill runs").success());
    assert!(dev.child.wait().expect("its end").success());
    assert_eq!(dev.left(), 0, "nothing is left behind");
}
