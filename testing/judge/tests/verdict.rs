//! Records a run and judges it with the binary, as in production.

#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::path::Path;
use std::process::{Command, Output};

use nightdesk_judge::{Event, Invariant, Recorder, judge};
use tempfile::TempDir;

/// Creates a run in which alice received one message, and acked it or not.
fn run(acks: bool) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let recorder = |proc: &str| {
        let path = folder.path().join(format!("{proc}.jsonl"));
        Recorder::create(&path, proc).expect("a file")
    };
    let (driver, platform, gateways) =
        (recorder("driver"), recorder("platform"), recorder("gateways"));
    let [conn, gateway, agent, buffer_id, nonce] =
        ["line-1", "gateway-1", "alice", "entry-1", "nonce-1"].map(str::to_owned);

    driver.note(Event::Begin { seed: 1, faults: false });
    gateways.note(Event::GwOpen { conn: conn.clone(), gateway, agent: agent.clone() });
    platform.note(Event::PlatSend {
        id: "event-1".to_owned(),
        bot: "bot".to_owned(),
        chat: "chat".to_owned(),
        user: "user".to_owned(),
        nonce: nonce.clone(),
        expect: vec![agent.clone()],
        order: None,
    });
    platform.note(Event::PlatAck { id: "event-1".to_owned(), attempt: 1, status: 200 });
    gateways.note(Event::GwRecv {
        conn: conn.clone(),
        agent: agent.clone(),
        buffer_id: buffer_id.clone(),
        nonce,
        bytes: 100,
        passthrough: false,
    });
    if acks {
        gateways.note(Event::GwAck { conn, agent, buffer_id });
    }
    driver.note(Event::Quiesce);
    for recorder in [driver, platform, gateways] {
        recorder.end().expect("is written");
    }
    folder
}

fn binary(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_judge"));
    command.args(arguments).arg(folder).output().expect("the judge runs")
}

fn last_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn a_run_in_which_all_went_well_passes() {
    let folder = run(true);
    let output = binary(&[], folder.path());

    assert_eq!(output.status.code(), Some(0));
    let want = "judge: events=10 lost=0 doubled=0 misdelivered=0 misordered=0 broken=none";
    assert_eq!(last_line(&output), want);
}

#[test]
fn a_lost_message_is_told_with_the_records_that_show_it() {
    let folder = run(false);
    let verdict = judge(folder.path()).expect("is whole");

    let [violation] = &verdict.violations[..] else { panic!("one thing went wrong") };
    assert_eq!(violation.invariant, Invariant::NoLoss);
    assert_eq!(violation.what, "nonce-1 was taken for alice, who never acknowledged it");
    let procs: Vec<_> = violation.history.iter().map(|record| (&*record.proc, record.n)).collect();
    assert_eq!(procs, [("platform", 1), ("platform", 2), ("gateways", 2)]);
}

#[test]
fn the_binary_says_so_and_exits_with_1() {
    let folder = run(false);
    let output = binary(&[], folder.path());

    assert_eq!(output.status.code(), Some(1));
    let want = "judge: events=9 lost=1 doubled=0 misdelivered=0 misordered=0 broken=I1";
    assert_eq!(last_line(&output), want);
}

#[test]
fn what_it_says_as_json_can_be_read() {
    let folder = run(false);
    let output = binary(&["--json"], folder.path());

    let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).expect("is JSON");
    assert_eq!(verdict["counts"]["I1"], 1);
    assert_eq!(verdict["violations"][0]["history"][0]["ev"]["PLAT_SEND"]["nonce"], "nonce-1");
}

#[test]
fn a_history_that_is_not_whole_exits_with_2() {
    let folder = run(true);
    let path = folder.path().join("gateways.jsonl");
    let text = std::fs::read_to_string(&path).expect("is there");
    std::fs::write(&path, &text[..text.len() - 1]).expect("is writable");
    let output = binary(&[], folder.path());

    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("is cut off after line 3: it has no end"), "{said}");
}
