//! Marks: what of a text may not be torn.

use std::cmp::Reverse;
use std::ops::Range;

use super::Length;
use super::fences::{Fence, Lines};
use super::length::Ruler;
use super::links::{bare_links, inline_code, written_links};

/// What of a text may not be torn. Both lists are in order, and nothing in one overlaps.
#[derive(Debug)]
pub(super) struct Marks<'t> {
    pub(super) fences: Vec<Fence<'t>>,
    /// The lines that open and close code, where no cut may be, not even in need.
    rails: Vec<Range<usize>>,
    /// Those, and links and inline code: no cut where it can be helped.
    links: Vec<Range<usize>>,
    /// All that, and what is beside a rail or looks like one: no cut where it would look bad.
    whole: Vec<Range<usize>>,
    pub(super) ruler: Ruler,
}

impl<'t> Marks<'t> {
    pub(super) fn of(text: &'t str, length: Length) -> Self {
        let Lines { fences, lookalikes } = Lines::of(text, length);
        let ruler = Ruler::of(text, length);
        let fits = |range: &Range<usize>| ruler.between(range) <= length.max;
        let rails: Vec<_> = fences.iter().flat_map(rails).collect();
        let links = apart(rails.iter().cloned().chain(links(text, &fences)).filter(fits), fits);
        let beside = fences.iter().flat_map(beside_rails).chain(lookalikes).filter(fits);
        let whole = apart(beside.chain(links.iter().cloned()), fits);
        Self { fences, rails, links, whole, ruler }
    }

    /// Whether a cut there tears nothing.
    pub(super) fn may_cut(&self, at: usize) -> bool {
        !is_inside(&self.whole, at)
    }

    /// Whether a cut there tears no link, though it may look bad.
    pub(super) fn can_cut(&self, at: usize) -> bool {
        !is_inside(&self.links, at) && !is_inside(&self.rails, at)
    }

    /// Whether a cut there tears no fence, whatever else.
    pub(super) fn could_cut(&self, at: usize) -> bool {
        !is_inside(&self.rails, at)
    }

    /// Whether something that may not be torn begins there.
    pub(super) fn begins_whole(&self, at: usize) -> bool {
        self.links.binary_search_by_key(&at, |range| range.start).is_ok()
    }

    /// The code block whose code, or whose last line, begins or goes on there.
    pub(super) fn fence_at(&self, at: usize) -> Option<usize> {
        let index = self.fences.partition_point(|fence| fence.code.start <= at).checked_sub(1)?;
        let fence = &self.fences[index];
        let end = fence.closing.as_ref().map_or(usize::MAX, |closing| closing.start);
        (at <= end).then_some(index)
    }
}

fn is_inside(ranges: &[Range<usize>], at: usize) -> bool {
    let index = ranges.partition_point(|range| range.start < at);
    index.checked_sub(1).is_some_and(|index| at < ranges[index].end)
}

fn rails(fence: &Fence<'_>) -> impl Iterator<Item = Range<usize>> {
    let opening = fence.opening.start..fence.code.start;
    std::iter::once(opening).chain(fence.closing.clone())
}

/// A cut right after the first line or right before the last would make an empty block.
fn beside_rails(fence: &Fence<'_>) -> impl Iterator<Item = Range<usize>> {
    let opening = fence.opening.start..fence.code.start + 1;
    let closing = fence.closing.clone();
    std::iter::once(opening).chain(closing.map(|line| line.start.saturating_sub(2)..line.end))
}

/// Links and inline code, in order. In code only bare links are looked for.
fn links(text: &str, fences: &[Fence<'_>]) -> Vec<Range<usize>> {
    let mut found = bare_links(text);
    let mut at = 0;
    let ends = fences.iter().map(|fence| (fence.opening.start, block_end(fence, text.len())));
    for (start, end) in ends.chain([(text.len(), text.len())]) {
        for paragraph in paragraphs(&text[at..start]) {
            let (base, paragraph) = (at + paragraph.start, &text[at..start][paragraph]);
            found.extend(inline_code(paragraph, base));
            found.extend(written_links(paragraph, base));
        }
        at = end;
    }
    found
}

fn block_end(fence: &Fence<'_>, text_end: usize) -> usize {
    fence.closing.as_ref().map_or(text_end, |closing| closing.end)
}

/// Neither links nor inline code go over a blank line.
fn paragraphs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    text.split("\n\n").map(move |paragraph| {
        let start = at;
        at += paragraph.len() + 2;
        start..start + paragraph.len()
    })
}

/// The ranges in order and without overlaps. Of two that overlap both are kept as one, if that
/// fits a message; otherwise the first.
fn apart(
    ranges: impl Iterator<Item = Range<usize>>,
    fits: impl Fn(&Range<usize>) -> bool,
) -> Vec<Range<usize>> {
    let mut ranges: Vec<_> = ranges.collect();
    ranges.sort_by_key(|range| (range.start, Reverse(range.end)));
    let mut kept: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match kept.last_mut() {
            Some(last) if range.start < last.end => {
                let both = last.start..last.end.max(range.end);
                if fits(&both) {
                    *last = both;
                }
            }
            _ => kept.push(range),
        }
    }
    kept
}
