//! The histories of a run, one per observer.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nightdesk_judge::{Event, Recorder};

use crate::time;

/// The records of one observer. Times of one observer never decrease; between two observers they may, by less than a
/// step of the simulation.
#[derive(Clone, Debug)]
pub struct Notes(Arc<Recorder>);

impl Notes {
    /// Writes a record.
    pub fn note(&self, event: Event) {
        self.0.note(event);
    }
}

/// The histories of a run.
#[derive(Debug)]
pub struct Histories {
    folder: PathBuf,
    open: BTreeMap<String, Notes>,
}

impl Histories {
    /// Creates the histories of an empty folder.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), open: BTreeMap::new() }
    }

    /// Begins the history of an observer.
    pub fn begin(&mut self, observer: &str) -> io::Result<Notes> {
        let path = self.folder.join(format!("{observer}.jsonl"));
        let notes = Notes(Arc::new(Recorder::create_by(&path, observer, time::elapsed_ns)?));
        self.open.insert(observer.to_owned(), notes.clone());
        Ok(notes)
    }

    /// Ends all histories.
    pub fn end(&self) -> io::Result<()> {
        self.open.values().try_for_each(|notes| notes.0.end())
    }
}
