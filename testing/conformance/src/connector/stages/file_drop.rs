//! Folders on a disk. One of them is not writable for any user, including root.

#![expect(clippy::expect_used, reason = "a stage that cannot be set up should stop")]

use std::fs;
use std::os::unix::fs::symlink;

use async_trait::async_trait;
use nightdesk_letters::Address;
use nightdesk_letters::connectors::FileDrop;
use nightdesk_protocol::delivery::{Delivery, WakeRequest};
use tempfile::TempDir;

use super::clock;
use crate::connector::{Seen, Stage};

const AGENT: &str = "perry";

pub(super) struct FileDropStage {
    drop: FileDrop,
    broken: FileDrop,
    dir: TempDir,
    _broken_dir: TempDir,
}

impl FileDropStage {
    pub(super) fn new() -> Self {
        let (dir, broken_dir) =
            (TempDir::new().expect("a folder"), TempDir::new().expect("a folder"));
        fs::create_dir(dir.path().join(AGENT)).expect("a folder");
        symlink("/proc/self/task", broken_dir.path().join(AGENT)).expect("a link");
        let drop = |dir: &TempDir| FileDrop::new(dir.path().to_owned(), clock());
        Self { drop: drop(&dir), broken: drop(&broken_dir), dir, _broken_dir: broken_dir }
    }
}

#[async_trait]
impl Stage for FileDropStage {
    type Connector = FileDrop;

    fn name(&self) -> &'static str {
        "file-drop"
    }

    fn connector(&self) -> &FileDrop {
        &self.drop
    }

    fn broken(&self) -> Option<&FileDrop> {
        Some(&self.broken)
    }

    fn agent(&self) -> Option<String> {
        Some(AGENT.to_owned())
    }

    fn interrupts(&self) -> bool {
        false
    }

    async fn seen(&self) -> Vec<Seen> {
        let files = fs::read_dir(self.dir.path().join(AGENT)).expect("a folder").flatten();
        files.map(|file| read(&fs::read_to_string(file.path()).expect("a file"))).collect()
    }
}

/// Parses a letter like a reader of the folder.
fn read(text: &str) -> Seen {
    let wire = Some(text.to_owned());
    if let Ok(Delivery { agent_id, payload }) = serde_json::from_str(text) {
        let session = Address::parse(&agent_id).session.map(str::to_owned);
        let (words, kind) = (payload.text().to_owned(), Some(payload.kind()));
        return Seen { words, kind, session, is_proven: true, wire };
    }
    let WakeRequest { opts, .. } = serde_json::from_str(text).expect("a letter");
    let words = opts.context.unwrap_or_default();
    Seen { words, kind: None, session: opts.session_id, is_proven: true, wire }
}
