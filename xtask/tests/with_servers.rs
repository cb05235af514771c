//! Runs `xtask with-servers` as a process, and checks that nothing is left behind.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit for the end of the servers and the command, in seconds.
const GONE_SECS_MAX: u64 = 20;

fn xtask(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("with-servers").args(args);
    command
}

/// Waits for a condition in other processes.
fn comes_true(what: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(GONE_SECS_MAX);
    while Instant::now() < deadline {
        if what() {
            return true;
        }
        thread::sleep(Duration::from_millis(50));
    }
    false
}

/// Starts a command that prints the server's folder and port and its own pid, and runs for a minute.
fn start_waiting() -> (Child, Vec<String>) {
    let script = "echo $NIGHTDESK_TEST_PG_DATA $NIGHTDESK_TEST_PG_PORT $$; exec sleep 60";
    let mut command = xtask(&["--", "sh", "-c", script]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("xtask runs");
    let mut line = String::new();
    let out = child.stdout.as_mut().expect("stdout is piped");
    BufReader::new(out).read_line(&mut line).expect("the command speaks");
    (child, line.split_whitespace().map(str::to_owned).collect())
}

fn signal(name: &str, pid: u32) {
    let status = Command::new("sh")
        .args(["-c", "kill -s $1 $2", "sh", name, &pid.to_string()])
        .status()
        .expect("kill runs");
    assert!(status.success());
}

#[test]
fn the_command_finds_both_servers() {
    let script = "psql -X -At -d $NIGHTDESK_TEST_PG_ADMIN_URL -c 'select 40 + 2' && \
                  redis-cli -u $NIGHTDESK_TEST_REDIS_URL ping && \
                  test -x $NIGHTDESK_TEST_PG_BIN/pg_ctl && \
                  test $(head -1 $NIGHTDESK_TEST_PG_DATA/postmaster.pid) = $NIGHTDESK_TEST_PG_PID";
    let output = xtask(&["--redis", "--", "sh", "-c", script]).output().expect("xtask runs");

    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "42\nPONG\n");
}

#[test]
fn the_status_of_the_command_is_passed_on() {
    let status = xtask(&["--", "sh", "-c", "exit 7"]).status().expect("xtask runs");

    assert_eq!(status.code(), Some(7));
}

#[test]
fn nothing_outlives_us_however_we_end() {
    for name in ["TERM", "INT", "KILL"] {
        let (mut child, said) = start_waiting();
        let [data, port, shell] = said.as_slice() else {
            panic!("the command said {said:?}");
        };
        let folder = Path::new(data).parent().expect("data is in the folder");
        let port: u16 = port.parse().expect("the port is a number");
        assert!(TcpStream::connect(("127.0.0.1", port)).is_ok(), "the server is up");

        signal(name, child.id());
        child.wait().expect("xtask ends");

        assert!(comes_true(|| !folder.exists()), "{name}: the folder is gone");
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "{name}: the server is gone");
        let command = Path::new("/proc").join(shell);
        assert!(comes_true(|| !command.exists()), "{name}: the command is gone");
    }
}
