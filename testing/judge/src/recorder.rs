//! Writes the records of one process.
//!
//! # Promise
//!
//! A record is with the operating system when [`Recorder::note`] returns, so a killed process loses only the line that
//! it was writing. A history that could not be written has no end, and the judge refuses it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::time::{ClockId, clock_gettime};

use crate::event::Event;

/// Nanoseconds in a second.
const SECOND_NS: u64 = 1_000_000_000;

/// Writes the history of one process, from any number of threads.
#[derive(Debug)]
pub struct Recorder {
    /// The process's name, as JSON.
    proc: String,
    now_ns: fn() -> u64,
    out: Mutex<Out>,
}

/// The file and the number of its lines.
#[derive(Debug)]
struct Out {
    file: File,
    lines: u64,
    /// The first write error. No line is written after it.
    failed: Option<io::Error>,
}

impl Recorder {
    /// Begins a history in a new file. The file's name ends in `.jsonl`, and no other process of the run has the same
    /// name.
    pub fn create(path: &Path, proc: &str) -> io::Result<Self> {
        Self::create_by(path, proc, monotonic_ns)
    }

    /// Begins a history with another monotonic clock, such as a simulation's.
    pub fn create_by(path: &Path, proc: &str, now_ns: fn() -> u64) -> io::Result<Self> {
        let out = Out { file: File::create_new(path)?, lines: 0, failed: None };
        Ok(Self { proc: serde_json::to_string(proc)?, now_ns, out: Mutex::new(out) })
    }

    /// Writes a record.
    ///
    /// The caller need not check for an error: [`Recorder::end`] reports it.
    #[expect(clippy::needless_pass_by_value, reason = "an event is made to be noted")]
    pub fn note(&self, event: Event) {
        let event = serde_json::to_string(&event);
        let mut out = self.out();
        // The clock is read under the lock, so that times in a file never decrease.
        let at_ns = (self.now_ns)();
        if out.failed.is_none() {
            let written =
                event.map_err(Into::into).and_then(|ev| out.write(at_ns, &self.proc, &ev));
            out.failed = written.err();
        }
    }

    /// Records that this process records nothing more. Returns an error if any record was not written.
    pub fn end(&self) -> io::Result<()> {
        self.note(Event::End);
        self.out().failed.take().map_or(Ok(()), Err)
    }

    /// Records that another process was killed on purpose and is gone: its history at `path` remains without an end.
    pub fn note_killed(&self, proc: &str, path: &Path) -> io::Result<()> {
        let records = whole_lines(path)?;
        self.note(Event::Killed { proc: proc.to_owned(), records });
        Ok(())
    }

    /// Locks the output. A thread that panicked leaves at most a line without its end, which the judge detects.
    fn out(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Out {
    fn write(&mut self, at_ns: u64, proc: &str, event: &str) -> io::Result<()> {
        self.lines += 1;
        let n = self.lines;
        let line = format!("{{\"t\":{at_ns},\"proc\":{proc},\"n\":{n},\"ev\":{event}}}\n");
        self.file.write_all(line.as_bytes())
    }
}

/// Returns the time of the machine's monotonic clock, which all its processes share.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Neither value is negative: the clock begins at boot.
    now.tv_sec.unsigned_abs() * SECOND_NS + now.tv_nsec.unsigned_abs()
}

/// Returns the number of complete lines of a file.
fn whole_lines(path: &Path) -> io::Result<u64> {
    let mut file = BufReader::new(File::open(path)?);
    let (mut lines, mut line) = (0, Vec::new());
    while file.read_until(b'\n', &mut line)? > 0 {
        lines += u64::from(line.ends_with(b"\n"));
        line.clear();
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use super::*;
    use crate::event::Record;

    fn records(path: &Path) -> Vec<Record> {
        let text = fs::read_to_string(path).expect("was written");
        text.lines().map(|line| serde_json::from_str(line).expect("is a record")).collect()
    }

    #[test]
    fn what_is_noted_stands_in_the_file_at_once_with_time_and_number() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("driver.jsonl");
        let recorder = Recorder::create(&path, "dri\"ver").expect("a file");
        let before_ns = monotonic_ns();

        recorder.note(Event::Begin { seed: 7, faults: false });
        recorder.note(Event::Quiesce);

        let found = records(&path);
        assert_eq!(found.iter().map(|record| record.n).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(found[0].proc, "dri\"ver");
        assert_eq!(found[0].ev, Event::Begin { seed: 7, faults: false });
        assert!(before_ns <= found[0].at_ns && found[0].at_ns <= found[1].at_ns);
        assert!(found[1].at_ns <= monotonic_ns());
    }

    #[test]
    fn many_threads_leave_no_gap_and_time_does_not_go_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gateways.jsonl");
        let recorder = Recorder::create(&path, "gateways").expect("a file");

        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|_| recorder.note(Event::Quiesce)));
            }
        });
        recorder.end().expect("was written");

        let found = records(&path);
        assert!(found.iter().zip(1..).all(|(record, n)| record.n == n));
        assert!(found.is_sorted_by_key(|record| record.at_ns));
        assert_eq!(found.last().map(|record| (record.n, &record.ev)), Some((2001, &Event::End)));
    }

    #[test]
    fn a_killed_process_is_noted_with_what_it_had_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let killed = folder.path().join("gateways.jsonl");
        fs::write(&killed, "{}\n{}\n{\"t\":1").expect("is writable");
        let path = folder.path().join("driver.jsonl");
        let driver = Recorder::create(&path, "driver").expect("a file");

        driver.note_killed("gateways", &killed).expect("is readable");

        let want = Event::Killed { proc: "gateways".to_owned(), records: 2 };
        assert_eq!(records(&path)[0].ev, want);
    }

    #[test]
    fn no_history_is_written_over_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("driver.jsonl");
        fs::write(&path, "").expect("is writable");

        let refused = Recorder::create(&path, "driver").expect_err("is there already");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn a_history_that_could_not_be_written_does_not_end_well() {
        let recorder = Recorder {
            proc: "\"full\"".to_owned(),
            now_ns: monotonic_ns,
            out: Mutex::new(Out {
                file: File::options().write(true).open("/dev/full").expect("Linux has it"),
                lines: 0,
                failed: None,
            }),
        };
        recorder.note(Event::Quiesce);

        assert!(recorder.end().is_err());
    }
}
