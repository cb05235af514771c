//! Z23: the judge never accepts a history of which a line is missing.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use nightdesk_judge::judge;
use tempfile::TempDir;

use crate::input::FuzzInput;

/// Separates the files of an input.
const FILE_END: &[u8] = b"\n---\n";

/// Most files of one input.
const FILES_MAX: usize = 4;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    // A memory file system, if there is one: every input writes files.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    folder.expect("a folder")
});

/// Two bytes select the line that is removed. The rest are the files.
pub(super) fn run(data: &[u8]) {
    let mut input = FuzzInput::new(data);
    let choice = usize::from(input.take_u16());
    let files = split_files(input.rest());
    if !is_accepted(&files) {
        return;
    }
    let lines: usize = files.iter().map(|file| count_lines(file)).sum();
    assert!(lines > 0, "an empty history was accepted");
    for cut in [HistoryCut::Line(choice % lines), HistoryCut::Tail(choice % lines)] {
        let cut_files = cut.apply(&files);
        assert!(!is_accepted(&cut_files), "{cut:?} of {:?}", String::from_utf8_lossy(data));
    }
}

/// A part that is removed. Lines are counted over all files.
#[derive(Clone, Copy, Debug)]
enum HistoryCut {
    /// One line.
    Line(usize),
    /// A line and the rest of its file.
    Tail(usize),
}

impl HistoryCut {
    fn apply(self, files: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut begin = 0;
        let mut left = Vec::new();
        for file in files {
            let end = begin + count_lines(file);
            let lines = file.split_inclusive(|byte| *byte == b'\n').enumerate();
            let kept = lines.filter(|(line, _)| match self {
                Self::Line(cut) => begin + line != cut,
                Self::Tail(cut) => begin + line < cut || cut < begin || cut >= end,
            });
            left.push(kept.flat_map(|(_, line)| line.to_vec()).collect());
            begin = end;
        }
        left
    }
}

fn split_files(mut rest: &[u8]) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    while files.len() + 1 < FILES_MAX {
        let end = rest.windows(FILE_END.len()).position(|part| part == FILE_END);
        let Some(end) = end else { break };
        files.push(rest[..=end].to_vec());
        rest = &rest[end + FILE_END.len()..];
    }
    files.push(rest.to_vec());
    files
}

fn count_lines(file: &[u8]) -> usize {
    file.split(|byte| *byte == b'\n').count() - 1
}

fn is_accepted(files: &[Vec<u8>]) -> bool {
    let folder = FOLDER.path();
    for (number, file) in files.iter().enumerate() {
        fs::write(path_of(folder, number), file).expect("a file can be written");
    }
    for number in files.len()..FILES_MAX {
        // An input with fewer files leaves none of the last one.
        drop(fs::remove_file(path_of(folder, number)));
    }
    judge(folder).is_ok()
}

fn path_of(folder: &Path, number: usize) -> std::path::PathBuf {
    folder.join(format!("{number}.jsonl"))
}
