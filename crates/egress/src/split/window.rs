//! The text that one part could contain, and the best position for its end.

use unicode_segmentation::UnicodeSegmentation;

use super::Length;
use super::fences::Fence;
use super::marks::Marks;
use super::reader::{Reader, looks_like_a_fence};

/// The end of a part and the start of the next. Only white space is between them. A part that ends at its start is
/// empty and is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) end: usize,
    pub(super) next: usize,
}

/// The quality of a position for a cut; the best comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Liking {
    /// Between two characters of a word.
    Character,
    Word,
    /// Between lines of code: a block that fits into the next part should stay whole.
    CodeLine,
    Sentence,
    Line,
    Paragraph,
}

const LIKINGS: [Liking; 6] = [
    Liking::Paragraph,
    Liking::Line,
    Liking::Sentence,
    Liking::CodeLine,
    Liking::Word,
    Liking::Character,
];

/// The rest of a text, and the part that one message can contain.
pub(super) struct Window<'t> {
    text: &'t str,
    length: Length,
    marks: &'t Marks,
    start: usize,
    /// The code block that is opened again.
    opens: Option<&'t Fence>,
    /// The length of the line that opens it.
    opens_length: usize,
}

/// The positions found in a window.
#[derive(Default)]
struct Places {
    /// The last position of each quality.
    last: [Option<usize>; LIKINGS.len()],
    /// The last position where a cut splits no link.
    in_need: Option<usize>,
    /// The last position where a cut splits no character.
    at_worst: Option<usize>,
    /// The position where the part would be full.
    reached: usize,
}

impl Places {
    const fn note(&mut self, liking: Liking, at: usize) {
        self.last[liking as usize] = Some(at);
    }

    /// Returns the best position that leaves no small part, or else the best of all.
    fn best(&self, half: usize) -> Option<usize> {
        let last = |liking: &Liking| self.last[*liking as usize];
        let (characters, better) = LIKINGS.split_last()?;
        let late = better.iter().filter_map(last).find(|at| *at >= half);
        late.or_else(|| better.iter().filter_map(last).max()).or_else(|| last(characters))
    }
}

impl<'t> Window<'t> {
    pub(super) fn new(text: &'t str, length: Length, marks: &'t Marks, start: usize) -> Self {
        let opens = marks.fence_at(start);
        let opens_length = opens.map_or(0, |fence| length.of(&fence.opens_again) + 1);
        Self { text, length, marks, start, opens, opens_length }
    }

    pub(super) fn cut(&self) -> Cut {
        let places = self.look();
        let text_end = self.text.len();
        if places.at_worst == Some(text_end) {
            return Cut { end: text_end, next: text_end };
        }
        if let Some(next) = self.behind_void(&places) {
            return Cut { end: self.start, next };
        }
        let half = self.start + (places.reached - self.start) / 2;
        let whole = places.best(half).or(places.in_need);
        let end = whole.or(places.at_worst).unwrap_or_else(|| self.torn());
        Cut { end, next: self.next(end) }
    }

    /// Returns the end of leading white space, if the white space prevents the next element from fitting: only then is
    /// indentation removed.
    fn behind_void(&self, places: &Places) -> Option<usize> {
        if self.opens.is_some() {
            return None;
        }
        let end = self.start + gap(&self.text[self.start..]).len();
        let is_in_the_way = places.in_need.is_none_or(|at| at <= end);
        (end > self.start && is_in_the_way).then_some(end)
    }

    /// Collects every position up to the point where the part would be full.
    fn look(&self) -> Places {
        let mut places = Places::default();
        let mut reader = self.reader();
        let mut at = self.start;
        for character in self.in_reach().graphemes(true) {
            let end = at + character.len();
            if self.taken(end) > self.length.max {
                break;
            }
            at = end;
            reader.read(character);
            if self.taken(at) + reader.closing_length() <= self.length.max {
                self.note(&mut places, at, character);
            }
        }
        places.reached = at;
        places
    }

    fn note(&self, places: &mut Places, at: usize, before: &str) {
        places.at_worst = Some(at);
        if self.marks.can_cut(at) {
            places.in_need = Some(at);
        }
        if !self.marks.may_cut(at) {
            return;
        }
        let liking = match self.marks.fence_at(at) {
            Some(_) => liking_in_code(before, &self.text[at..]),
            None if is_blank(before) => None,
            None => self.liking(before, at),
        };
        if let Some(liking) = liking {
            places.note(liking, at);
        }
    }

    fn liking(&self, before: &str, at: usize) -> Option<Liking> {
        let gap = gap(&self.text[at..]);
        let next = at + gap.len();
        // At the start of a part it would become a fence, unless it is complete inline code.
        let looks_bad = || looks_like_a_fence(&self.text[next..]) && !self.marks.begins_whole(next);
        match gap.matches('\n').count() {
            0 if looks_bad() => None,
            0 if gap.is_empty() && !before.ends_with(WIDE_STOPS) => Some(Liking::Character),
            0 if before.ends_with(STOPS) || before.ends_with(WIDE_STOPS) => Some(Liking::Sentence),
            0 => Some(Liking::Word),
            1 => Some(Liking::Line),
            _ => Some(Liking::Paragraph),
        }
    }

    /// Returns a position inside one character that is made of very many, because nothing else fits.
    fn torn(&self) -> usize {
        let mut reader = self.reader();
        let mut torn = self.start;
        for (at, c) in self.in_reach().char_indices() {
            let end = self.start + at + c.len_utf8();
            reader.read(&self.text[self.start + at..end]);
            if self.taken(end) + reader.closing_length() <= self.length.max {
                torn = end;
            }
        }
        debug_assert!(torn > self.start, "a part has room for one letter between its fences");
        torn
    }

    /// Returns the start of the next part. The line break and blank lines are removed, but not indentation. In code,
    /// only one line break is removed.
    fn next(&self, end: usize) -> usize {
        let rest = &self.text[end..];
        let gap = match self.marks.fence_at(end) {
            Some(_) => &rest[..line_end(rest)],
            None => gap(rest),
        };
        end + gap.rfind('\n').map_or(gap.len(), |last| last + 1)
    }

    /// Returns as much of the rest as could fit, and a little more; the scan stops there.
    fn in_reach(&self) -> &str {
        let rest = &self.text[self.start..];
        rest.char_indices().nth(self.length.max + 1).map_or(rest, |(end, _)| &rest[..end])
    }

    /// Returns the length of the part up to this position.
    fn taken(&self, at: usize) -> usize {
        self.opens_length + self.marks.ruler.between(&(self.start..at))
    }

    /// Returns a reader after the line that opens a block again.
    fn reader(&self) -> Reader {
        Reader::within(self.opens.map(|fence| fence.signs))
    }
}

fn liking_in_code(before: &str, rest: &str) -> Option<Liking> {
    if line_end(rest) > 0 {
        return Some(Liking::CodeLine);
    }
    // At the start of a line it might close the block. The check runs once per gap; otherwise a text of white space
    // alone would be scanned again at every position.
    if is_blank(before) || looks_like_a_fence(rest) {
        return None;
    }
    Some(if rest.starts_with([' ', '\t']) { Liking::Word } else { Liking::Character })
}

/// The characters that end a sentence before white space.
const STOPS: [char; 4] = ['.', '!', '?', '…'];

/// The characters that end a sentence in scripts without spaces between sentences.
const WIDE_STOPS: [char; 3] = ['。', '！', '？'];

fn is_blank(character: &str) -> bool {
    !character.is_empty() && character.trim().is_empty()
}

/// Returns the white space at the start of a text.
fn gap(rest: &str) -> &str {
    &rest[..rest.len() - rest.trim_start().len()]
}

fn line_end(rest: &str) -> usize {
    if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) }
}
