//! A real tmux on its own server, with an agent that writes the typed text to a file.

#![expect(clippy::expect_used, reason = "a stage that cannot be set up should stop")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_letters::connectors::Tmux;
use nightdesk_letters::{AgentConnector, new_id};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::clock;
use crate::connector::{Seen, Stage, augment, word};

const AGENT: &str = "perry";
const SESSION: &str = "desk-agent";
const WINDOWS: [&str; 3] = ["main", "kitchen", "cellar"];

/// Time limit for typed text to appear.
const TYPED_WITHIN: Duration = Duration::from_secs(10);

/// Interval between two checks for typed text.
const LOOKED_EVERY: Duration = Duration::from_millis(10);

pub(super) struct TmuxStage {
    server: String,
    tmux: Tmux,
    broken: Tmux,
    dir: TempDir,
}

impl TmuxStage {
    pub(super) fn new() -> Self {
        let (server, dir) = (format!("stage-{}", new_id()), TempDir::new().expect("a folder"));
        let tmux = |server: &str| {
            let agents = BTreeMap::from([(AGENT.to_owned(), SESSION.to_owned())]);
            Tmux::new(server, agents, clock()).expect("names that fit")
        };
        let (broken, live) = (tmux("nobody-runs-this"), tmux(&server));
        let stage = Self { tmux: live, broken, dir, server };
        stage.start();
        stage
    }

    fn start(&self) {
        for (nth, window) in WINDOWS.iter().enumerate() {
            let file = self.file(window);
            let program = format!("stty -echo; exec cat >> {}", file.display());
            let begin: &[&str] = if nth == 0 {
                &["-f", "/dev/null", "new-session", "-d", "-s", SESSION, "-n", window]
            } else {
                &["new-window", "-d", "-t", SESSION, "-n", window]
            };
            let mut tmux = Command::new("tmux");
            tmux.args(["-L", &self.server]).args(begin).arg(&program);
            assert!(tmux.status().expect("tmux is installed").success(), "{window}");
        }
        // Letters without a window go to the first one.
        let select = ["-L", &self.server, "select-window", "-t", "desk-agent:main"];
        assert!(Command::new("tmux").args(select).status().expect("tmux").success());
    }

    fn file(&self, window: &str) -> PathBuf {
        self.dir.path().join(window)
    }

    /// Types a marker into a window and waits until it appears, after all earlier text.
    async fn settled(&self, window: &str) -> String {
        let marker = word("marker");
        let address = format!("{AGENT}@{window}");
        self.tmux.deliver(&address, &augment(&marker)).await.expect("it is typed");
        let until = Instant::now() + TYPED_WITHIN;
        loop {
            let text = fs::read_to_string(self.file(window)).unwrap_or_default();
            if text.contains(&marker) {
                return text;
            }
            assert!(Instant::now() < until, "{window} does not pass on what is typed");
            sleep(LOOKED_EVERY).await;
        }
    }
}

impl Drop for TmuxStage {
    fn drop(&mut self) {
        let ended = Command::new("tmux").args(["-L", &self.server, "kill-server"]).status();
        // The server may have ended already.
        drop(ended);
    }
}

#[async_trait]
impl Stage for TmuxStage {
    type Connector = Tmux;

    fn name(&self) -> &'static str {
        "tmux"
    }

    fn connector(&self) -> &Tmux {
        &self.tmux
    }

    fn broken(&self) -> Option<&Tmux> {
        Some(&self.broken)
    }

    fn agent(&self) -> Option<String> {
        Some(AGENT.to_owned())
    }

    fn interrupts(&self) -> bool {
        true
    }

    async fn seen(&self) -> Vec<Seen> {
        let mut all = Vec::new();
        for window in WINDOWS {
            let text = self.settled(window).await;
            let words = text.lines().filter_map(|line| line.split_once("] "));
            let words = words.map(|(_, words)| words).filter(|words| !words.starts_with("marker"));
            let session = (window != WINDOWS[0]).then(|| window.to_owned());
            all.extend(words.map(|words| Seen {
                words: words.to_owned(),
                session: session.clone(),
                is_proven: true,
                ..Seen::default()
            }));
        }
        all
    }
}
