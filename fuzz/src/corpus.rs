//! The seeds of a target, and mutations of them without a fuzzer.

use std::fs;
use std::path::Path;

/// Longest input, as in `fuzz/run.sh`.
const INPUT_BYTES_MAX: usize = 65_536;

/// Most changes that make one mutation.
const CHANGES_MAX: u64 = 6;

/// Longest piece that one change copies or removes.
const PIECE_BYTES_MAX: u64 = 32;

/// Bytes at which parsers decide.
const EDGE_BYTES: &[u8] = b"\0\n\r\t \"\\{}[]:,=%@./+-0179Zaz\x7f\x80\xff";

/// The seeds of a target and its words.
#[derive(Clone, Debug)]
pub struct Corpus {
    seeds: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

impl Corpus {
    /// Creates a corpus of these seeds and words.
    pub const fn new(seeds: Vec<Vec<u8>>, words: Vec<Vec<u8>>) -> Self {
        Self { seeds, words }
    }

    /// Reads the seeds of a folder, and the words of a dictionary in libFuzzer's format if there is one.
    ///
    /// # Panics
    ///
    /// A file cannot be read.
    pub fn read(folder: &Path, dictionary: &Path) -> Self {
        let entries = fs::read_dir(folder).expect("every target has a folder of seeds");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("a seed").path()).collect();
        // A folder has no order, and a replay must be the same on every machine.
        paths.sort();
        let seeds = paths.iter().map(|path| fs::read(path).expect("a seed is readable")).collect();
        let words = fs::read_to_string(dictionary).unwrap_or_default();
        Self::new(seeds, words.lines().filter_map(read_word).collect())
    }

    /// Returns the seeds.
    pub fn seeds(&self) -> &[Vec<u8>] {
        &self.seeds
    }

    /// Returns mutations of the seeds without end, the same for the same number.
    pub fn mutations(&self, number: u64) -> impl Iterator<Item = Vec<u8>> {
        let mut draw = RandomNumbers(number | 1);
        std::iter::repeat_with(move || self.mutate(&mut draw))
    }

    fn mutate(&self, draw: &mut RandomNumbers) -> Vec<u8> {
        let mut input = draw.choose(&self.seeds).cloned().unwrap_or_default();
        for _ in 0..=draw.below(CHANGES_MAX) {
            self.change(&mut input, draw);
        }
        input.truncate(INPUT_BYTES_MAX);
        input
    }

    fn change(&self, input: &mut Vec<u8>, draw: &mut RandomNumbers) {
        let at = draw.index(input.len() + 1);
        match draw.below(8) {
            0 => flip(input, at, draw),
            1 => set(input, at, draw),
            2 => drop(input.drain(at..draw.end_of_piece(at, input.len()))),
            3 => insert(input, at, &[*draw.choose(EDGE_BYTES).unwrap_or(&0)]),
            4 => {
                let from = draw.index(input.len() + 1);
                let piece = input[from..draw.end_of_piece(from, input.len())].to_vec();
                insert(input, at, &piece);
            }
            5 => {
                let other = draw.choose(&self.seeds).map_or(&[][..], Vec::as_slice);
                let from = draw.index(other.len() + 1);
                insert(input, at, &other[from..draw.end_of_piece(from, other.len())]);
            }
            6 => insert(input, at, draw.choose(&self.words).map_or(b"0", Vec::as_slice)),
            _ => input.truncate(at),
        }
    }
}

fn flip(input: &mut [u8], at: usize, draw: &mut RandomNumbers) {
    if let Some(byte) = input.get_mut(at) {
        *byte ^= 1 << draw.below(8);
    }
}

fn set(input: &mut [u8], at: usize, draw: &mut RandomNumbers) {
    if let Some(byte) = input.get_mut(at) {
        *byte = *draw.choose(EDGE_BYTES).unwrap_or(&0);
    }
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}

/// Reads a line of a dictionary: a text in quotes, with `\xAB` for other bytes.
fn read_word(line: &str) -> Option<Vec<u8>> {
    let mut rest = line.trim().strip_prefix('"')?.strip_suffix('"')?.bytes();
    let mut word = Vec::new();
    while let Some(byte) = rest.next() {
        word.push(match byte {
            b'\\' => match rest.next()? {
                b'x' => hex_byte(rest.next()?, rest.next()?)?,
                escaped => escaped,
            },
            plain => plain,
        });
    }
    Some(word)
}

fn hex_byte(high: u8, low: u8) -> Option<u8> {
    let digit =
        |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    Some((digit(high)? << 4) | digit(low)?)
}

/// Marsaglia's xorshift, which is random enough to choose bytes.
struct RandomNumbers(u64);

impl RandomNumbers {
    const fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    const fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn index(&mut self, length: usize) -> usize {
        let index = self.below(u64::try_from(length).unwrap_or(u64::MAX).max(1));
        usize::try_from(index).unwrap_or_default()
    }

    fn choose<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.index(from.len()))
    }

    fn end_of_piece(&mut self, from: usize, length: usize) -> usize {
        let bytes = usize::try_from(self.below(PIECE_BYTES_MAX)).unwrap_or_default();
        from.saturating_add(bytes).min(length)
    }
}
