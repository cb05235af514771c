//! Starts both servers, uses them, and checks that nothing remains.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use nightdesk_servers::{Durability, Options, Postgres, Redis};

/// Runs a query with psql and returns the bare answer.
fn ask(postgres: &Postgres, sql: &str) -> String {
    let output = Command::new(postgres.bin_dir().join("psql"))
        .args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql])
        .arg(postgres.admin_url("postgres"))
        .output()
        .expect("psql runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("psql prints text").trim().to_owned()
}

fn ping(port: u16) -> String {
    let port = port.to_string();
    let output = Command::new("redis-cli").args(["-p", &port, "PING"]).output();
    String::from_utf8(output.expect("redis-cli runs").stdout).expect("redis-cli prints text")
}

/// Returns true if a process runs in the folder, or the folder exists.
fn is_left(folder: &Path) -> bool {
    let processes = fs::read_dir("/proc").expect("/proc is readable").flatten();
    let mut places = processes.filter_map(|process| fs::read_link(process.path().join("cwd")).ok());
    folder.exists() || places.any(|place| place.starts_with(folder))
}

fn is_open(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

#[test]
fn postgres_answers_and_leaves_nothing_behind() {
    let postgres = Postgres::start(&Options::default()).expect("postgres starts");
    let (port, data) = (postgres.port(), postgres.data_dir());
    let folder = data.parent().expect("data is in the folder").to_owned();

    assert_eq!(ask(&postgres, "select current_setting('fsync')"), "off");
    assert_eq!(ask(&postgres, "select current_setting('max_connections')"), "200");
    assert_eq!(ask(&postgres, "select datcollate from pg_database limit 1"), "C.UTF-8");
    assert!(is_left(&folder), "the server works in its folder");

    drop(postgres);
    assert!(!is_left(&folder), "neither a process nor the folder is left");
    assert!(!is_open(port), "the port is free again");
}

#[test]
fn what_was_committed_is_there_after_an_immediate_stop() {
    let options = Options { durability: Durability::Fsync, ..Options::default() };
    let mut postgres = Postgres::start(&options).expect("postgres starts");
    let (port, pid) = (postgres.port(), postgres.pid());
    assert_eq!(ask(&postgres, "select current_setting('fsync')"), "on");
    ask(&postgres, "create table kept as select 7 as seven");

    postgres.stop_immediate().expect("postgres stops");
    assert!(!is_open(port), "nobody listens while it is stopped");

    postgres.start_again().expect("postgres starts again");
    assert_eq!(ask(&postgres, "select seven from kept"), "7");
    assert_eq!(postgres.port(), port, "the port stays");
    assert_ne!(postgres.pid(), pid, "the process does not");
}

#[test]
fn a_stopped_postgres_leaves_nothing_behind_either() {
    let mut postgres = Postgres::start(&Options::default()).expect("postgres starts");
    let folder = postgres.data_dir().parent().expect("data is in the folder").to_owned();
    postgres.stop_immediate().expect("postgres stops");

    drop(postgres);
    assert!(!is_left(&folder));
}

#[test]
fn redis_answers_and_leaves_nothing_behind() {
    let mut redis = Redis::start().expect("redis starts");
    let (port, folder) = (redis.port(), redis.dir().to_owned());
    assert_eq!(ping(port), "PONG\n");

    redis.stop().expect("redis stops");
    assert!(!is_open(port), "nobody listens while it is stopped");
    redis.start_again().expect("redis starts again");
    assert_eq!(ping(port), "PONG\n");

    drop(redis);
    assert!(!is_left(&folder), "neither a process nor the folder is left");
    assert!(!is_open(port), "the port is free again");
}

#[test]
fn a_wrong_setting_is_reported_with_the_log() {
    let wrong = ("shared_buffers".to_owned(), "nonsense".to_owned());
    let options = Options { settings: vec![wrong], ..Options::default() };

    let error = Postgres::start(&options).expect_err("postgres refuses the setting");
    assert!(error.to_string().contains("shared_buffers"), "{error:#}");
}
