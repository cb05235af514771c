//! Reads the file of one process, line by line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::ReadError;
use crate::event::{Event, Record};

/// Maximum bytes of a line, twice the longest frame.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Size of the read buffer.
const READ_BYTES: usize = 1 << 18;

/// A history file that is being read.
#[derive(Debug)]
pub(super) struct HistoryFile {
    path: PathBuf,
    reader: BufReader<File>,
    line: Vec<u8>,
    /// The next record and its offset.
    head: Option<(Record, u64)>,
    offset: u64,
    lines: u64,
    last_ns: u64,
    proc: String,
    ended: bool,
    /// True if the last line has no line end.
    torn: bool,
}

impl HistoryFile {
    /// Opens a file and reads its first record.
    pub(super) fn open(path: &PathBuf) -> Result<Self, ReadError> {
        let file =
            File::open(path).map_err(|source| ReadError::Io { path: path.clone(), source })?;
        let mut opened = Self {
            path: path.clone(),
            reader: BufReader::with_capacity(READ_BYTES, file),
            line: Vec::new(),
            head: None,
            offset: 0,
            lines: 0,
            last_ns: 0,
            // A process that was killed before its first line is identified by its file name.
            proc: path.file_stem().map(|stem| stem.to_string_lossy().into()).unwrap_or_default(),
            ended: false,
            torn: false,
        };
        opened.head = opened.read()?;
        Ok(opened)
    }

    /// Returns the time of the next record.
    pub(super) fn next_at_ns(&self) -> Option<u64> {
        self.head.as_ref().map(|(record, _)| record.at_ns)
    }

    /// Takes the next record and its offset.
    pub(super) fn take(&mut self) -> Result<Option<(Record, u64)>, ReadError> {
        let next = self.read()?;
        Ok(std::mem::replace(&mut self.head, next))
    }

    /// Returns the process of the history.
    pub(super) fn proc(&self) -> &str {
        &self.proc
    }

    /// Checks that the file ends correctly: with an `End` event, or where its process was killed.
    pub(super) fn check_end(&self, killed_at: Option<u64>) -> Result<(), ReadError> {
        let (path, lines) = (self.path.clone(), self.lines);
        match killed_at {
            Some(want) if want != lines => Err(ReadError::NotAsKilled { path, lines, want }),
            Some(_) => Ok(()),
            None if self.ended && !self.torn => Ok(()),
            None => Err(ReadError::Cut { path, lines }),
        }
    }

    fn read(&mut self) -> Result<Option<(Record, u64)>, ReadError> {
        let offset = self.offset;
        self.line.clear();
        let read = self.reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut self.line);
        let bytes = read.map_err(|source| ReadError::Io { path: self.path.clone(), source })?;
        self.offset += bytes as u64;
        if bytes == 0 {
            return Ok(None);
        }
        if !self.line.ends_with(b"\n") {
            if bytes as u64 == LINE_BYTES_MAX {
                return Err(self.broken("too long"));
            }
            self.torn = true;
            return Ok(None);
        }
        self.lines += 1;
        let record = serde_json::from_slice(&self.line).map_err(|source| ReadError::Line {
            path: self.path.clone(),
            line: self.lines,
            source,
        })?;
        self.check(&record)?;
        Ok(Some((record, offset)))
    }

    /// Checks that a record continues the earlier ones.
    fn check(&mut self, record: &Record) -> Result<(), ReadError> {
        if self.lines == 1 {
            self.proc.clone_from(&record.proc);
        }
        if self.ended {
            return Err(self.broken("a record after the end"));
        }
        if record.n != self.lines {
            return Err(self.broken("its number does not follow"));
        }
        if record.at_ns < self.last_ns {
            return Err(self.broken("time went back"));
        }
        if record.proc != self.proc {
            return Err(self.broken("another process's record"));
        }
        self.last_ns = record.at_ns;
        self.ended = record.ev == Event::End;
        Ok(())
    }

    fn broken(&self, what: &'static str) -> ReadError {
        ReadError::Broken { path: self.path.clone(), line: self.lines, what }
    }
}

/// Reads the record at this offset.
pub(super) fn read_at(path: &Path, offset: u64) -> Result<Record, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(io)?;
    file.seek(SeekFrom::Start(offset)).map_err(io)?;
    let mut line = Vec::new();
    BufReader::new(file.take(LINE_BYTES_MAX)).read_until(b'\n', &mut line).map_err(io)?;
    serde_json::from_slice(&line).map_err(|source| {
        // The file has changed since it was read.
        ReadError::Line { path: path.to_owned(), line: 0, source }
    })
}
