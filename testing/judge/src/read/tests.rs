use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::event::Event;
use crate::recorder::Recorder;

/// Creates a run of a driver and of gateways that it started.
fn run() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let driver = Recorder::create(&folder.path().join("driver.jsonl"), "driver").expect("a file");
    let path = folder.path().join("gateways.jsonl");
    driver.note(Event::Begin { seed: 1, faults: false });
    driver.note(Event::Started { proc: "gateways".to_owned() });
    let gateways = Recorder::create(&path, "gateways").expect("a file");
    gateways.note(Event::Canary { place: "a log".to_owned() });
    driver.note(Event::Quiesce);
    gateways.end().expect("is written");
    driver.end().expect("is written");
    folder
}

fn refused(folder: &TempDir) -> String {
    Run::read(folder.path()).expect_err("is not whole").to_string()
}

fn change(folder: &TempDir, file: &str, change: impl FnOnce(&mut String)) {
    let path = folder.path().join(file);
    let mut text = fs::read_to_string(&path).expect("is there");
    change(&mut text);
    fs::write(path, text).expect("is writable");
}

/// Truncates a file to its first lines.
fn cut(folder: &TempDir, file: &str, lines: usize) {
    change(folder, file, |text| {
        *text = text.split_inclusive('\n').take(lines).collect();
    });
}

fn name(path: &Path) -> String {
    path.file_name().expect("has a name").to_string_lossy().into()
}

#[test]
fn records_are_merged_by_time_and_can_be_read_again() {
    let folder = run();
    let run = Run::read(folder.path()).expect("is whole");

    let records: Vec<_> =
        (0..run.history.events).map(|record| run.record(record).expect("is there")).collect();
    assert_eq!(records.len(), 6);
    assert!(records.is_sorted_by_key(|record| record.at_ns));
    assert_eq!(records[2].ev, Event::Canary { place: "a log".to_owned() });
    assert_eq!(
        run.paths.iter().map(|path| name(path)).collect::<Vec<_>>(),
        ["driver.jsonl", "gateways.jsonl"]
    );
}

#[test]
fn a_file_cut_after_any_line_is_refused() {
    for (file, lines) in [("driver.jsonl", 4), ("gateways.jsonl", 2)] {
        for kept in 0..lines {
            let folder = run();
            cut(&folder, file, kept);
            refused(&folder);
        }
    }
}

#[test]
fn a_file_cut_after_any_byte_is_refused() {
    for file in ["driver.jsonl", "gateways.jsonl"] {
        let folder = run();
        let path = folder.path().join(file);
        let whole = fs::read_to_string(&path).expect("is there");
        for bytes in 0..whole.len() {
            fs::write(&path, &whole[..bytes]).expect("is writable");
            refused(&folder);
        }
    }
}

#[test]
fn a_missing_line_is_refused() {
    let folder = run();
    change(&folder, "driver.jsonl", |text| {
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        *text = [lines[0], lines[2], lines[3]].concat();
    });

    assert!(refused(&folder).ends_with("line 2: its number does not follow"));
}

#[test]
fn a_missing_file_is_refused() {
    let folder = run();
    fs::remove_file(folder.path().join("gateways.jsonl")).expect("is there");
    assert_eq!(refused(&folder), "there is no file of process gateways");

    fs::remove_file(folder.path().join("driver.jsonl")).expect("is there");
    assert_eq!(refused(&folder), "a run is begun once, and this one 0 times");
}

#[test]
fn a_history_that_goes_on_after_its_end_is_refused() {
    let folder = run();
    let path = folder.path().join("late.jsonl");
    let late = Recorder::create(&path, "late").expect("a file");
    late.end().expect("is written");
    late.note(Event::Quiesce);

    assert!(refused(&folder).ends_with("line 2: a record after the end"));
}

#[test]
fn what_is_left_of_a_line_after_the_end_is_refused() {
    let folder = run();
    change(&folder, "gateways.jsonl", |text| text.push_str("{\"t\":12"));

    assert!(refused(&folder).ends_with("is cut off after line 2: it has no end"));
}

#[test]
fn a_record_that_does_not_follow_on_the_last_is_refused() {
    let end = "\"n\":2,\"ev\":\"END\"}\n";
    let cases = [
        ("\"t\":0,\"proc\":\"gateways\"", "time went back"),
        ("\"t\":18446744073709551615,\"proc\":\"others\"", "another process's record"),
    ];
    for (begin, want) in cases {
        let folder = run();
        cut(&folder, "gateways.jsonl", 1);
        change(&folder, "gateways.jsonl", |text| *text += &["{", begin, ",", end].concat());

        assert!(refused(&folder).ends_with(want), "{want}");
    }
}

#[test]
fn a_killed_process_may_stop_in_the_middle_of_a_line_and_nowhere_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let driver = Recorder::create(&folder.path().join("driver.jsonl"), "driver").expect("a file");
    driver.note(Event::Begin { seed: 1, faults: true });
    let path = folder.path().join("gateways.jsonl");
    let gateways = Recorder::create(&path, "gateways").expect("a file");
    gateways.note(Event::Quiesce);
    gateways.note(Event::Quiesce);
    change(&folder, "gateways.jsonl", |text| text.push_str("{\"t\":12"));
    driver.note_killed("gateways", &path).expect("is readable");
    driver.end().expect("is written");

    Run::read(folder.path()).expect("is whole");
    cut(&folder, "gateways.jsonl", 1);
    assert!(refused(&folder).ends_with("has 1 lines, and had 2 when its process was killed"));
    fs::remove_file(path).expect("is there");
    assert_eq!(refused(&folder), "there is no file of process gateways");
}

#[test]
fn a_run_that_was_begun_twice_is_two() {
    let folder = run();
    let second = Recorder::create(&folder.path().join("second.jsonl"), "second").expect("a file");
    second.note(Event::Begin { seed: 2, faults: false });
    second.end().expect("is written");

    assert_eq!(refused(&folder), "a run is begun once, and this one 2 times");
}

#[test]
fn two_histories_of_one_process_are_refused() {
    let folder = run();
    let again = Recorder::create(&folder.path().join("again.jsonl"), "gateways").expect("a file");
    again.end().expect("is written");

    assert_eq!(refused(&folder), "two files are of process gateways");
}

#[test]
fn what_is_no_record_is_refused() {
    let folder = run();
    change(&folder, "gateways.jsonl", |text| text.insert_str(0, "{}\n"));

    assert!(refused(&folder).ends_with("line 1: not a record"));
}

#[test]
fn a_process_is_killed_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, driver) = (folder.path().join("gateways.jsonl"), folder.path().join("driver.jsonl"));
    let driver = Recorder::create(&driver, "driver").expect("a file");
    let gateways = Recorder::create(&path, "gateways").expect("a file");
    driver.note(Event::Begin { seed: 1, faults: true });
    gateways.note(Event::Canary { place: "a log".to_owned() });
    driver.note_killed("gateways", &path).expect("is readable");
    driver.note_killed("gateways", &path).expect("is readable");
    driver.end().expect("is written");

    assert_eq!(refused(&folder), "process gateways was killed twice");
}
