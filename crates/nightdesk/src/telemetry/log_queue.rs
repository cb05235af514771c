//! Writes log lines from a separate thread. If the reader of the log stands still, log lines are dropped and counted;
//! no task of the node waits for it.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// Maximum number of lines that wait to be written.
const LINES_MAX: usize = 10_000;

/// Maximum wait for the last lines of a process.
const LAST_LINES_WAIT: Duration = Duration::from_secs(1);

/// Returns the line that reports dropped lines.
pub(super) type DropNotice = fn(u64) -> String;

/// The lines that wait to be written. Each clone adds to the same queue.
#[derive(Clone, Debug)]
pub(crate) struct LogQueue {
    items: SyncSender<Item>,
    dropped: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Item {
    Line(Vec<u8>),
    /// All lines before it are written when this is answered.
    Flush(SyncSender<()>),
}

impl LogQueue {
    /// Starts the thread that writes.
    pub(super) fn start(to: impl Write + Send + 'static, notice: DropNotice) -> io::Result<Self> {
        Self::with_room(to, notice, LINES_MAX)
    }

    fn with_room(
        to: impl Write + Send + 'static,
        notice: DropNotice,
        lines_max: usize,
    ) -> io::Result<Self> {
        let (items, waiting) = sync_channel(lines_max);
        let queue = Self { items, dropped: Arc::default() };
        let dropped = Arc::clone(&queue.dropped);
        // Not joined: a write to a full pipe may never return.
        drop(
            thread::Builder::new()
                .name("log".to_owned())
                .spawn(move || write_lines(&waiting, to, &dropped, notice))?,
        );
        Ok(queue)
    }

    /// Waits until the lines so far are written, for a second at most.
    pub(crate) fn write_out(&self) {
        let (done, is_done) = sync_channel(1);
        // If the queue is full, its reader stands still, and the wait would be in vain.
        if self.items.try_send(Item::Flush(done)).is_ok() {
            is_done.recv_timeout(LAST_LINES_WAIT).ok();
        }
    }
}

impl Write for LogQueue {
    /// Adds a line, or counts it as dropped.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.items.try_send(Item::Line(line.to_vec())).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogQueue {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Writes until the last queue is gone. A line that cannot be written is lost: the log is the only place to say so.
fn write_lines(
    waiting: &Receiver<Item>,
    mut to: impl Write,
    dropped: &AtomicU64,
    notice: DropNotice,
) {
    for item in waiting {
        match item {
            Item::Line(line) => drop(to.write_all(&line)),
            Item::Flush(done) => {
                to.flush().ok();
                // The process may have given up waiting.
                done.try_send(()).ok();
            }
        }
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            drop(to.write_all(notice(lost).as_bytes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    const ROOM: usize = 3;

    /// A pipe that takes each line only when it is allowed to.
    #[derive(Clone, Debug)]
    struct Pipe {
        allowed: Arc<Mutex<Receiver<()>>>,
        text: Arc<Mutex<String>>,
    }

    impl Write for Pipe {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            let allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
            // When the sender is gone, every line is allowed.
            allowed.recv().ok();
            self.text.lock().unwrap().push_str(&String::from_utf8_lossy(line));
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_stands_still_costs_lines_and_stops_no_task() {
        let (allow, allowed) = sync_channel(0);
        let pipe = Pipe { allowed: Arc::new(Mutex::new(allowed)), text: Arc::default() };
        let notice: DropNotice = |lost| format!("{lost} dropped\n");
        let mut queue = LogQueue::with_room(pipe.clone(), notice, ROOM).unwrap();

        // At most one line is at the pipe, and the queue holds three.
        let lines = 100;
        for line in 0..lines {
            queue.write_all(format!("line {line}\n").as_bytes()).unwrap();
        }
        drop(allow);
        // The queue is full until the pipe has taken a line.
        while queue.items.try_send(Item::Line(b"the last\n".to_vec())).is_err() {
            thread::yield_now();
        }
        queue.write_out();
        while !pipe.text.lock().unwrap().contains("the last") {
            thread::yield_now();
        }

        let text = pipe.text.lock().unwrap().clone();
        let written = text.lines().filter(|line| line.starts_with("line ")).count();
        assert!((ROOM..=ROOM + 1).contains(&written), "{text}");
        assert!(text.starts_with("line 0\n"), "{text}");
        assert!(text.contains(&format!("{} dropped\n", lines - written)), "{text}");
    }

    #[test]
    fn lines_are_written_in_order_and_a_flush_waits_for_them() {
        let (allow, allowed) = sync_channel(0);
        drop(allow);
        let pipe = Pipe { allowed: Arc::new(Mutex::new(allowed)), text: Arc::default() };
        let mut queue = LogQueue::start(pipe.clone(), |_| String::new()).unwrap();

        queue.write_all(b"one\n").unwrap();
        queue.write_all(b"two\n").unwrap();
        queue.write_out();

        assert_eq!(*pipe.text.lock().unwrap(), "one\ntwo\n");
    }
}
