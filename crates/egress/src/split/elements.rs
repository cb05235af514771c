//! Finds the elements of a text that must stay whole.

use std::cmp::Reverse;
use std::ops::Range;

use super::LengthLimit;
use super::fences::{Fence, FenceScan};
use super::length::LengthIndex;
use super::links::{bare_links, inline_code, written_links};

/// The elements of a text that must stay whole. Both lists are sorted and free of overlaps.
#[derive(Debug)]
pub(super) struct TextElements {
    pub(super) fences: Vec<Fence>,
    /// Links, inline code, and the lines that open and close code: cut only if nothing else fits.
    links: Vec<Range<usize>>,
    /// The surroundings of such a line and lines that look like one: a cut would look bad.
    delicate: Vec<Range<usize>>,
    pub(super) ruler: LengthIndex,
}

impl TextElements {
    pub(super) fn parse(text: &str, length: LengthLimit) -> Self {
        let FenceScan { mut fences, lookalikes } = FenceScan::scan(text, length);
        let ruler = LengthIndex::new(text, length);
        let fits = |range: &Range<usize>| ruler.length_of_range(range) <= length.max;
        let links = links(text, &fences);
        // Every part repeats them, so they must leave room for the code.
        fences.retain(|fence| fence.signs.count <= length.max / 8);
        // A part contains such a line together with another one that opens or closes its block.
        let leaves_room = |range: &Range<usize>| ruler.length_of_range(range) <= length.max / 2;
        let rails = fences.iter().flat_map(fence_ranges).filter(leaves_room);
        let links = join_overlaps(rails.chain(links).filter(fits), fits);
        let delicate = fences.iter().flat_map(fence_surroundings).chain(lookalikes);
        let delicate = join_overlaps(delicate.filter(fits), fits);
        Self { fences, links, delicate, ruler }
    }

    /// Returns true if a cut there splits no element and looks good.
    pub(super) fn may_cut(&self, at: usize) -> bool {
        self.can_cut(at) && !is_inside(&self.delicate, at)
    }

    /// Returns true if a cut there splits no element, though it may look bad.
    pub(super) fn can_cut(&self, at: usize) -> bool {
        !is_inside(&self.links, at)
    }

    /// Returns true if an element that must stay whole begins there.
    pub(super) fn begins_whole(&self, at: usize) -> bool {
        self.links.binary_search_by_key(&at, |range| range.start).is_ok()
    }

    /// Returns the code block that must be opened again in a part that begins there.
    pub(super) fn fence_at(&self, at: usize) -> Option<&Fence> {
        let after = self.fences.partition_point(|fence| fence.opening.signs.end <= at);
        let fence = &self.fences[after.checked_sub(1)?];
        let is_over = fence.closing.as_ref().is_some_and(|closing| closing.signs.start < at);
        (!is_over).then_some(fence)
    }
}

fn is_inside(ranges: &[Range<usize>], at: usize) -> bool {
    let index = ranges.partition_point(|range| range.start < at);
    index.checked_sub(1).is_some_and(|index| at < ranges[index].end)
}

/// Returns the lines of a fence, and its signs alone for lines that are too long.
fn fence_ranges(fence: &Fence) -> impl Iterator<Item = Range<usize>> {
    let Fence { opening, closing, .. } = fence;
    let first = [opening.signs.clone(), opening.line.start..opening.next];
    let last = closing.iter().flat_map(|rail| [rail.signs.clone(), rail.line.clone()]);
    first.into_iter().chain(last)
}

/// Returns ranges without cuts: a cut right after the first line or right before the last makes an empty block.
fn fence_surroundings(fence: &Fence) -> impl Iterator<Item = Range<usize>> {
    let opening = fence.opening.line.start..fence.opening.next + 1;
    let closing =
        fence.closing.as_ref().map(|rail| rail.line.start.saturating_sub(2)..rail.line.end);
    std::iter::once(opening).chain(closing)
}

/// Returns links and inline code. In code blocks, only bare links count.
fn links(text: &str, fences: &[Fence]) -> Vec<Range<usize>> {
    let mut found = bare_links(text);
    let mut at = 0;
    let ends = fences.iter().map(|fence| (fence.opening.line.start, block_end(fence, text.len())));
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

fn block_end(fence: &Fence, text_end: usize) -> usize {
    fence.closing.as_ref().map_or(text_end, |closing| closing.line.end)
}

/// Returns the paragraphs: links and inline code do not cross a blank line.
fn paragraphs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    text.split("\n\n").map(move |paragraph| {
        let start = at;
        at += paragraph.len() + 2;
        start..start + paragraph.len()
    })
}

/// Returns the ranges sorted and without overlaps. Two ranges that overlap are joined if the result fits a message;
/// otherwise only the first remains.
fn join_overlaps(
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
