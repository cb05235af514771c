//! The text that one part could contain, and the best position for its end.

use unicode_segmentation::UnicodeSegmentation;

use super::LengthLimit;
use super::elements::TextElements;
use super::fences::Fence;
use super::reader::{FenceReader, looks_like_a_fence};

/// The end of a part and the start of the next. Only white space is between them. A part that ends at its start is
/// empty and is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) end: usize,
    pub(super) next: usize,
}

/// The quality of a position for a cut; the best comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CutQuality {
    /// Between two characters of a word.
    Character,
    Word,
    /// Between lines of code: a block that fits into the next part should stay whole.
    CodeLine,
    Sentence,
    Line,
    Paragraph,
}

const LIKINGS: [CutQuality; 6] = [
    CutQuality::Paragraph,
    CutQuality::Line,
    CutQuality::Sentence,
    CutQuality::CodeLine,
    CutQuality::Word,
    CutQuality::Character,
];

/// The rest of a text, and the part that one message can contain.
pub(super) struct CutWindow<'t> {
    text: &'t str,
    length: LengthLimit,
    marks: &'t TextElements,
    start: usize,
    /// The code block that is opened again.
    opens: Option<&'t Fence>,
    /// The length of the line that opens it.
    opens_length: usize,
}

/// The positions found in a window.
#[derive(Default)]
struct CutCandidates {
    /// The last position of each quality.
    last: [Option<usize>; LIKINGS.len()],
    /// The last position where a cut splits no link.
    in_need: Option<usize>,
    /// The last position where a cut splits no character.
    at_worst: Option<usize>,
    /// The position where the part would be full.
    reached: usize,
}

impl CutCandidates {
    const fn note(&mut self, liking: CutQuality, at: usize) {
        self.last[liking as usize] = Some(at);
    }

    /// Returns the best position that leaves no small part, or else the best of all.
    fn best(&self, half: usize) -> Option<usize> {
        let last = |liking: &CutQuality| self.last[*liking as usize];
        let (characters, better) = LIKINGS.split_last()?;
        let late = better.iter().filter_map(last).find(|at| *at >= half);
        late.or_else(|| better.iter().filter_map(last).max()).or_else(|| last(characters))
    }
}

impl<'t> CutWindow<'t> {
    pub(super) fn new(
        text: &'t str,
        length: LengthLimit,
        marks: &'t TextElements,
        start: usize,
    ) -> Self {
        let opens = marks.fence_at(start);
        let opens_length = opens.map_or(0, |fence| length.measure(&fence.opens_again) + 1);
        Self { text, length, marks, start, opens, opens_length }
    }

    pub(super) fn cut(&self) -> Cut {
        let places = self.collect_candidates();
        let text_end = self.text.len();
        if places.at_worst == Some(text_end) {
            return Cut { end: text_end, next: text_end };
        }
        if let Some(next) = self.end_of_leading_space(&places) {
            return Cut { end: self.start, next };
        }
        let half = self.start + (places.reached - self.start) / 2;
        let whole = places.best(half).or(places.in_need);
        let end = whole.or(places.at_worst).unwrap_or_else(|| self.position_in_character());
        Cut { end, next: self.next_start(end) }
    }

    /// Returns the end of leading white space, if the white space prevents the next element from fitting: only then is
    /// indentation removed.
    fn end_of_leading_space(&self, places: &CutCandidates) -> Option<usize> {
        if self.opens.is_some() {
            return None;
        }
        let end = self.start + leading_space(&self.text[self.start..]).len();
        let is_in_the_way = places.in_need.is_none_or(|at| at <= end);
        (end > self.start && is_in_the_way).then_some(end)
    }

    /// Collects every position up to the point where the part would be full.
    fn collect_candidates(&self) -> CutCandidates {
        let mut places = CutCandidates::default();
        let mut reader = self.reader();
        let mut at = self.start;
        for character in self.reachable_text().graphemes(true) {
            let end = at + character.len();
            if self.length_up_to(end) > self.length.max {
                break;
            }
            at = end;
            reader.read(character);
            if self.length_up_to(at) + reader.closing_length() <= self.length.max {
                self.note_position(&mut places, at, character);
            }
        }
        places.reached = at;
        places
    }

    fn note_position(&self, places: &mut CutCandidates, at: usize, before: &str) {
        places.at_worst = Some(at);
        if self.marks.can_cut(at) {
            places.in_need = Some(at);
        }
        if !self.marks.may_cut(at) {
            return;
        }
        let liking = match self.marks.fence_at(at) {
            Some(_) => quality_in_code(before, &self.text[at..]),
            None if is_blank(before) => None,
            None => self.quality_at(before, at),
        };
        if let Some(liking) = liking {
            places.note(liking, at);
        }
    }

    fn quality_at(&self, before: &str, at: usize) -> Option<CutQuality> {
        let gap = leading_space(&self.text[at..]);
        let next = at + gap.len();
        // At the start of a part it would become a fence, unless it is complete inline code.
        let looks_bad = || looks_like_a_fence(&self.text[next..]) && !self.marks.begins_whole(next);
        match gap.matches('\n').count() {
            0 if looks_bad() => None,
            0 if gap.is_empty() && !before.ends_with(WIDE_STOPS) => Some(CutQuality::Character),
            0 if before.ends_with(STOPS) || before.ends_with(WIDE_STOPS) => {
                Some(CutQuality::Sentence)
            }
            0 => Some(CutQuality::Word),
            1 => Some(CutQuality::Line),
            _ => Some(CutQuality::Paragraph),
        }
    }

    /// Returns a position inside one character that is made of very many, because nothing else fits.
    fn position_in_character(&self) -> usize {
        let mut reader = self.reader();
        let mut torn = self.start;
        for (at, c) in self.reachable_text().char_indices() {
            let end = self.start + at + c.len_utf8();
            reader.read(&self.text[self.start + at..end]);
            if self.length_up_to(end) + reader.closing_length() <= self.length.max {
                torn = end;
            }
        }
        debug_assert!(torn > self.start, "a part has room for one letter between its fences");
        torn
    }

    /// Returns the start of the next part. The line break and blank lines are removed, but not indentation. In code,
    /// only one line break is removed.
    fn next_start(&self, end: usize) -> usize {
        let rest = &self.text[end..];
        let gap = match self.marks.fence_at(end) {
            Some(_) => &rest[..line_end(rest)],
            None => leading_space(rest),
        };
        end + gap.rfind('\n').map_or(gap.len(), |last| last + 1)
    }

    /// Returns as much of the rest as could fit, and a little more; the scan stops there.
    fn reachable_text(&self) -> &str {
        let rest = &self.text[self.start..];
        rest.char_indices().nth(self.length.max + 1).map_or(rest, |(end, _)| &rest[..end])
    }

    /// Returns the length of the part up to this position.
    fn length_up_to(&self, at: usize) -> usize {
        self.opens_length + self.marks.ruler.length_of_range(&(self.start..at))
    }

    /// Returns a reader after the line that opens a block again.
    fn reader(&self) -> FenceReader {
        FenceReader::starting_in(self.opens.map(|fence| fence.signs))
    }
}

fn quality_in_code(before: &str, rest: &str) -> Option<CutQuality> {
    if line_end(rest) > 0 {
        return Some(CutQuality::CodeLine);
    }
    // At the start of a line it might close the block. The check runs once per gap; otherwise a text of white space
    // alone would be scanned again at every position.
    if is_blank(before) || looks_like_a_fence(rest) {
        return None;
    }
    Some(if rest.starts_with([' ', '\t']) { CutQuality::Word } else { CutQuality::Character })
}

/// The characters that end a sentence before white space.
const STOPS: [char; 4] = ['.', '!', '?', '…'];

/// The characters that end a sentence in scripts without spaces between sentences.
const WIDE_STOPS: [char; 3] = ['。', '！', '？'];

fn is_blank(character: &str) -> bool {
    !character.is_empty() && character.trim().is_empty()
}

/// Returns the white space at the start of a text.
fn leading_space(rest: &str) -> &str {
    &rest[..rest.len() - rest.trim_start().len()]
}

fn line_end(rest: &str) -> usize {
    if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) }
}
