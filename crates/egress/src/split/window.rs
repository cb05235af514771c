//! Window: what one part could hold, and where it best ends.

use unicode_segmentation::UnicodeSegmentation;

use super::Length;
use super::fences::looks_like_one;
use super::marks::Marks;

/// Where a part ends, and where the next begins. What is between is white space. A part that
/// ends where it begins is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) end: usize,
    pub(super) next: usize,
}

/// How good a place for a cut is; the best comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Liking {
    /// Between two characters of a word.
    Character,
    Word,
    /// Between lines of code: a block that fits into the next part is better left whole.
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

/// What is left of a text, and what one part can take of it.
pub(super) struct Window<'t> {
    text: &'t str,
    length: Length,
    marks: &'t Marks<'t>,
    start: usize,
    /// How long the line is that opens a block again.
    opens: usize,
}

/// The last place of each liking.
#[derive(Default)]
struct Places {
    last: [Option<usize>; LIKINGS.len()],
    /// The last place where a cut tears no link.
    in_need: Option<usize>,
    /// The last place where a cut tears no fence, whatever else it tears.
    at_worst: Option<usize>,
}

impl Places {
    const fn note(&mut self, liking: Liking, at: usize) {
        self.last[liking as usize] = Some(at);
    }

    /// The best place that leaves no small part behind; then the best at all.
    fn best(&self, half: usize) -> Option<usize> {
        let last = |liking: &Liking| self.last[*liking as usize];
        let (characters, better) = LIKINGS.split_last()?;
        let late = better.iter().filter_map(last).find(|at| *at >= half);
        late.or_else(|| better.iter().filter_map(last).max()).or_else(|| last(characters))
    }
}

impl<'t> Window<'t> {
    pub(super) fn new(text: &'t str, length: Length, marks: &'t Marks<'t>, start: usize) -> Self {
        let opens = |fence: usize| length.of(&marks.fences[fence].opens_again) + 1;
        let opens = marks.fence_at(start).map_or(0, opens);
        Self { text, length, marks, start, opens }
    }

    pub(super) fn cut(&self) -> Cut {
        let (places, reached) = self.look();
        if reached == self.text.len() && self.costs(reached) <= self.length.max {
            return Cut { end: reached, next: reached };
        }
        let void = gap(&self.text[self.start..]).len();
        let is_void = |end: usize| end <= self.start + void;
        if void > 0
            && self.marks.fence_at(self.start).is_none()
            && places.in_need.is_none_or(is_void)
        {
            // Indentation is kept only where it does not keep what follows from fitting.
            return Cut { end: self.start, next: self.start + void };
        }
        let half = self.start + (reached - self.start) / 2;
        let whole = places.best(half).or(places.in_need);
        let end = whole.or(places.at_worst).unwrap_or_else(|| self.torn());
        Cut { end, next: self.next(end) }
    }

    /// Notes every place up to where the part would be full, and says where that is.
    fn look(&self) -> (Places, usize) {
        let mut places = Places::default();
        let (mut at, mut before) = (self.start, "");
        for character in self.in_reach().graphemes(true) {
            if at > self.start && self.costs(at) <= self.length.max {
                self.note(&mut places, at, before);
            }
            if self.taken(at + character.len()) > self.length.max {
                break;
            }
            at += character.len();
            before = character;
        }
        (places, at)
    }

    fn note(&self, places: &mut Places, at: usize, before: &str) {
        if self.marks.can_cut(at) {
            places.in_need = Some(at);
        }
        if self.marks.could_cut(at) {
            places.at_worst = Some(at);
        }
        if !self.marks.may_cut(at) {
            return;
        }
        let liking = match self.marks.fence_at(at) {
            Some(_) => liking_in_code(&self.text[at..]),
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
        // At the start of a part it would become a fence, unless it is inline code to its end.
        let looks_bad = || looks_like_one(&self.text[next..]) && !self.marks.begins_whole(next);
        match gap.matches('\n').count() {
            0 if looks_bad() => None,
            0 if gap.is_empty() && !before.ends_with(WIDE_STOPS) => Some(Liking::Character),
            0 if before.ends_with(STOPS) || before.ends_with(WIDE_STOPS) => Some(Liking::Sentence),
            0 => Some(Liking::Word),
            1 => Some(Liking::Line),
            _ => Some(Liking::Paragraph),
        }
    }

    /// Nothing fits but a piece of one character that is made of very many.
    fn torn(&self) -> usize {
        let ends = self.in_reach().char_indices().map(|(at, c)| self.start + at + c.len_utf8());
        let first = self.text[self.start..].chars().next().map_or(0, char::len_utf8);
        let fitting = ends.take_while(|end| self.costs(*end) <= self.length.max);
        fitting.last().unwrap_or(self.start + first)
    }

    /// Where the next part begins. The line's end and blank lines are left out, indentation
    /// is not; in code nothing is left out but the one line's end.
    fn next(&self, end: usize) -> usize {
        let rest = &self.text[end..];
        let gap = match self.marks.fence_at(end) {
            Some(_) => &rest[..line_end(rest)],
            None => gap(rest),
        };
        end + gap.rfind('\n').map_or(gap.len(), |last| last + 1)
    }

    /// As much of the rest as could fit, and a little more: what is longer is not looked at.
    fn in_reach(&self) -> &str {
        let rest = &self.text[self.start..];
        rest.char_indices().nth(self.length.max + 1).map_or(rest, |(end, _)| &rest[..end])
    }

    /// How long the part is if it goes on at this place.
    fn taken(&self, at: usize) -> usize {
        self.opens + self.marks.ruler.between(&(self.start..at))
    }

    /// How long the part is if it ends at this place.
    fn costs(&self, at: usize) -> usize {
        let closes = self.marks.fence_at(at);
        self.taken(at) + closes.map_or(0, |fence| self.marks.fences[fence].marker.len() + 1)
    }
}

fn liking_in_code(rest: &str) -> Option<Liking> {
    if line_end(rest) > 0 {
        return Some(Liking::CodeLine);
    }
    // At the start of a line it might close the block.
    let word = if rest.starts_with([' ', '\t']) { Liking::Word } else { Liking::Character };
    (!looks_like_one(rest)).then_some(word)
}

/// What ends a sentence, if white space follows.
const STOPS: [char; 4] = ['.', '!', '?', '…'];

/// What ends a sentence in scripts that put no space between them.
const WIDE_STOPS: [char; 3] = ['。', '！', '？'];

fn is_blank(character: &str) -> bool {
    !character.is_empty() && character.trim().is_empty()
}

/// The white space a text begins with.
fn gap(rest: &str) -> &str {
    &rest[..rest.len() - rest.trim_start().len()]
}

fn line_end(rest: &str) -> usize {
    if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) }
}
