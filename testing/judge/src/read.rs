//! Reads the histories of a run: all files at once, merged by time.
//!
//! # Promise
//!
//! An incomplete history is never accepted: not one with a gap, a cut line, a missing end or a missing file. Only a
//! process that was killed on purpose may stop in the middle, and exactly at the recorded line.

mod file;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::path::{Path, PathBuf};
use std::{fs, io};

use file::{HistoryFile, read_at};

use crate::event::Record;
use crate::history::History;
use crate::names::number;

/// Maximum number of records.
const RECORDS_MAX: usize = 1 << 31;

/// Reasons why a history cannot be judged.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant says what it is")]
pub enum ReadError {
    #[error("could not read {path}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path}, line {line}: not a record")]
    Line { path: PathBuf, line: u64, source: serde_json::Error },
    #[error("{path}, line {line}: {what}")]
    Broken { path: PathBuf, line: u64, what: &'static str },
    #[error("{path} is cut off after line {lines}: it has no end")]
    Cut { path: PathBuf, lines: u64 },
    #[error("{path} has {lines} lines, and had {want} when its process was killed")]
    NotAsKilled { path: PathBuf, lines: u64, want: u64 },
    #[error("two files are of process {proc}")]
    Twice { proc: String },
    #[error("process {proc} was killed twice")]
    KilledTwice { proc: String },
    #[error("there is no file of process {proc}")]
    Missing { proc: String },
    #[error("a run is begun once, and this one {begins} times")]
    Begins { begins: u32 },
    #[error("more than {RECORDS_MAX} records")]
    TooMany,
}

/// Position of a record: file and byte offset.
#[derive(Clone, Copy, Debug)]
struct Place {
    file: u32,
    offset: u64,
}

/// A history, and the position of each of its records.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) history: History,
    paths: Vec<PathBuf>,
    places: Vec<Place>,
}

impl Run {
    /// Reads all histories of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, ReadError> {
        let paths = paths(folder)?;
        let mut files: Vec<_> = paths.iter().map(HistoryFile::open).collect::<Result<_, _>>()?;
        let (mut history, mut places) = (History::default(), Vec::new());
        let mut next: BinaryHeap<_> = files.iter().enumerate().filter_map(turn).collect();
        while let Some(Reverse((_, at))) = next.pop() {
            let Some((record, offset)) = files[at].take()? else { continue };
            history.take(&record);
            places.push(Place { file: number(at), offset });
            if places.len() > RECORDS_MAX {
                return Err(ReadError::TooMany);
            }
            next.extend(turn((at, &files[at])));
        }
        check_whole(&files, &history)?;
        Ok(Self { history: history.finish(), paths, places })
    }

    /// Reads one record again, to show it.
    pub(crate) fn record(&self, number: u32) -> Result<Record, ReadError> {
        let place = self.places[number as usize];
        read_at(&self.paths[place.file as usize], place.offset)
    }
}

/// Returns the time of a file's next record.
fn turn((at, file): (usize, &HistoryFile)) -> Option<Reverse<(u64, usize)>> {
    file.next_at_ns().map(|at_ns| Reverse((at_ns, at)))
}

/// Returns the history files of a folder, by name.
fn paths(folder: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let io = |source| ReadError::Io { path: folder.to_owned(), source };
    let entries = fs::read_dir(folder).map_err(io)?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .filter(|path| {
            path.as_ref().map_or(true, |path| path.extension() == Some("jsonl".as_ref()))
        })
        .collect::<io::Result<Vec<_>>>()
        .map_err(io)?;
    paths.sort();
    Ok(paths)
}

/// Finds histories that are cut off or missing.
fn check_whole(files: &[HistoryFile], history: &History) -> Result<(), ReadError> {
    if history.begins != 1 {
        return Err(ReadError::Begins { begins: history.begins });
    }
    check_killed_once(history)?;
    let mut procs = BTreeSet::new();
    for file in files {
        let proc = file.proc();
        let killed = history.killed.iter().find(|killed| history.text(killed.proc) == proc);
        file.check_end(killed.map(|killed| killed.records))?;
        if !procs.insert(proc) {
            return Err(ReadError::Twice { proc: proc.to_owned() });
        }
    }
    let started = history.started.iter().map(|about| history.text(about.name));
    let killed = history.killed.iter().map(|killed| history.text(killed.proc));
    started
        .chain(killed)
        .find(|proc| !procs.contains(proc))
        .map_or(Ok(()), |proc| Err(ReadError::Missing { proc: proc.to_owned() }))
}

/// Finds a process with two kills: a file that one of them calls whole could be cut to the length of the other.
fn check_killed_once(history: &History) -> Result<(), ReadError> {
    let mut killed = BTreeSet::new();
    let mut procs = history.killed.iter().map(|killed| history.text(killed.proc));
    procs
        .find(|proc| !killed.insert(*proc))
        .map_or(Ok(()), |proc| Err(ReadError::KilledTwice { proc: proc.to_owned() }))
}

#[cfg(test)]
mod tests;
