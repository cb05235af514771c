//! The program under trial: its process, and its output.

use std::collections::VecDeque;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

use super::facts::{TrialFact, TrialNotebook};
use super::limits::{OUTPUT_LINE_CHARS_MAX, OUTPUT_LINES_MAX};

/// Part of a line with which a program reports that its gateway was revoked, in lower case.
const REVOCATION_WORD: &str = "revoked";

/// The command of a program, and the variables of its environment.
#[derive(Clone, Debug)]
pub(super) struct ProgramCommand {
    pub(super) words: Vec<String>,
    pub(super) variables: Vec<(&'static str, String)>,
}

/// The last lines of a program's output.
#[derive(Clone, Debug, Default)]
pub(super) struct ProgramOutput(Arc<Mutex<VecDeque<String>>>);

impl ProgramOutput {
    fn add(&self, line: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push_back(line.chars().take(OUTPUT_LINE_CHARS_MAX).collect());
        if lines.len() > OUTPUT_LINES_MAX {
            lines.pop_front();
        }
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect()
    }
}

/// A running program. Its whole process group is killed with it.
#[derive(Debug)]
pub(super) struct RunningProgram {
    child: Child,
    notebook: Arc<TrialNotebook>,
    is_exit_noted: bool,
    readers: JoinSet<()>,
}

impl RunningProgram {
    pub(super) fn start(
        command: &ProgramCommand,
        notebook: &Arc<TrialNotebook>,
        output: &ProgramOutput,
    ) -> io::Result<Self> {
        let [program, arguments @ ..] = command.words.as_slice() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let variables = command.variables.iter().map(|(name, value)| (*name, value.as_str()));
        let mut child = Command::new(program)
            .args(arguments)
            .envs(variables)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let mut readers = JoinSet::new();
        if let Some(stdout) = child.stdout.take() {
            readers.spawn(read_output(stdout, Arc::clone(notebook), output.clone()));
        }
        if let Some(stderr) = child.stderr.take() {
            readers.spawn(read_output(stderr, Arc::clone(notebook), output.clone()));
        }
        let notebook = Arc::clone(notebook);
        Ok(Self { child, notebook, is_exit_noted: false, readers })
    }

    /// Notes that the program ended by itself, if it did.
    pub(super) fn note_exit(&mut self) {
        if let Ok(Some(status)) = self.child.try_wait() {
            self.note_status(status);
        }
    }

    /// Waits for the program to end, and notes it.
    pub(super) async fn wait_for_exit(&mut self) {
        if let Ok(status) = self.child.wait().await {
            self.note_status(status);
        }
    }

    fn note_status(&mut self, status: ExitStatus) {
        if !self.is_exit_noted {
            self.is_exit_noted = true;
            self.notebook.record(TrialFact::Exit { status: status.to_string() });
        }
    }

    /// Kills the program and its children, and waits for its end.
    pub(super) async fn kill(mut self) {
        self.note_exit();
        self.kill_group();
        drop(self.child.wait().await);
        self.readers.shutdown().await;
    }

    fn kill_group(&self) {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(id) = id {
            // A group that has ended already needs no signal.
            kill_process_group(id, Signal::KILL).unwrap_or_default();
        }
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.kill_group();
    }
}

async fn read_output(
    stream: impl AsyncRead + Unpin,
    notebook: Arc<TrialNotebook>,
    output: ProgramOutput,
) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while matches!(reader.read_until(b'\n', &mut line).await, Ok(1..)) {
        let text = String::from_utf8_lossy(&line);
        if text.to_lowercase().contains(REVOCATION_WORD) {
            notebook.record(TrialFact::RevocationReport);
        }
        output.add(text.trim_end());
        line.clear();
    }
}
