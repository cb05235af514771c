//! Finds links and inline code.
//!
//! Every scan passes over the text once, so a text of only brackets or backticks costs no more than any other.

use std::collections::HashMap;
use std::ops::Range;

/// Returns the ranges of inline code in a paragraph.
pub(super) fn inline_code(paragraph: &str, base: usize) -> Vec<Range<usize>> {
    let runs = backticks(paragraph);
    let partners = partners(&runs);
    let mut found = Vec::new();
    let mut index = 0;
    while index < runs.len() {
        index = match partners[index] {
            Some(partner) if !is_like_a_block(paragraph, &runs, index) => {
                found.push(base + runs[index].start..base + runs[partner].end);
                partner + 1
            }
            Some(_) | None => index + 1,
        };
    }
    found
}

/// Returns true if inline code would become a block at the start of a line.
fn is_like_a_block(paragraph: &str, runs: &[Range<usize>], index: usize) -> bool {
    let until_next = runs[index].end..runs[index + 1].start;
    runs[index].len() >= 3 && paragraph[until_next].contains('\n')
}

fn backticks(paragraph: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in paragraph.match_indices('`') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// Returns for each run of backticks the next one of the same length.
fn partners(runs: &[Range<usize>]) -> Vec<Option<usize>> {
    let mut next_of_length = HashMap::new();
    let mut partners = vec![None; runs.len()];
    for (index, run) in runs.iter().enumerate().rev() {
        partners[index] = next_of_length.insert(run.len(), index);
    }
    partners
}

/// Returns the links `[text](address)` in a paragraph, with an image's `!`.
pub(super) fn written_links(paragraph: &str, base: usize) -> Vec<Range<usize>> {
    let bytes = paragraph.as_bytes();
    let closing = parentheses(bytes);
    let mut found = Vec::new();
    let mut open = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'[' => open.push(at),
            b']' => {
                let Some(start) = open.pop() else { continue };
                if let Some(end) = closing.get(&(at + 1)) {
                    let image = usize::from(start > 0 && bytes[start - 1] == b'!');
                    found.push(base + start - image..base + end + 1);
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns for each `(` its `)`, if no white space is between them.
fn parentheses(bytes: &[u8]) -> HashMap<usize, usize> {
    let mut pairs = HashMap::new();
    let mut open = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' => open.push(at),
            b')' => {
                if let Some(start) = open.pop() {
                    pairs.insert(start, at);
                }
            }
            space if space.is_ascii_whitespace() => open.clear(),
            _ => {}
        }
    }
    pairs
}

/// Returns the bare URLs in a text.
pub(super) fn bare_links(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut end_before = 0;
    for (colon, _) in text.match_indices("://") {
        if colon < end_before {
            continue;
        }
        let scheme = scheme_before(&text[end_before..colon]);
        if scheme == 0 {
            continue;
        }
        let rest = &text[colon..];
        let end = colon + rest.find(ends_a_link).unwrap_or(rest.len());
        found.push(colon - scheme..end);
        end_before = end;
    }
    found
}

/// Longest scheme that is recognised.
const SCHEME_BYTES_MAX: usize = 16;

fn scheme_before(text: &str) -> usize {
    let letters = text.bytes().rev().take(SCHEME_BYTES_MAX);
    letters.take_while(u8::is_ascii_alphabetic).count()
}

fn ends_a_link(c: char) -> bool {
    c.is_whitespace() || ['<', '>', '"', '`'].contains(&c)
}
