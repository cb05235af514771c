//! Tests of the promises of splitting.

use super::*;

mod examples;
mod properties;

const UNITS: [LengthUnit; 2] = [LengthUnit::Chars, LengthUnit::Utf16];

fn in_chars(text: &str, max: usize) -> Vec<String> {
    split(text, max, LengthUnit::Chars)
}

/// Returns true if every code block of a part ends in it.
fn is_balanced(part: &str) -> bool {
    let mut open: Option<(char, usize)> = None;
    for line in part.lines().map(str::trim) {
        let sign = line.chars().next().unwrap_or(' ');
        let count = line.chars().take_while(|c| *c == sign).count();
        let is_fence = "`~".contains(sign) && count >= 3;
        open = match open {
            Some((by, least))
                if is_fence && by == sign && count >= least && count == line.len() =>
            {
                None
            }
            None if is_fence && !(sign == '`' && line[count..].contains('`')) => {
                Some((sign, count))
            }
            same => same,
        };
    }
    open.is_none()
}
