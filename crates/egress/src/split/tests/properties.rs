//! Properties that hold for every text.

use proptest::prelude::*;
use proptest::test_runner::RngAlgorithm;

use super::*;

const CASES: u32 = 10_000;

/// Texts of elements that are hard to cut, and of arbitrary characters.
fn text() -> impl Strategy<Value = String> {
    let hard = prop::sample::select(vec![
        "word",
        " ",
        "\n",
        "\n\n",
        ". ",
        "。",
        "`",
        "``",
        "```",
        "```rust\n",
        "\n```\n",
        "\n~~~\n",
        "    ",
        "[",
        "](",
        ")",
        "[text](https://a.example/b)",
        "https://example.org/path?q=1",
        "`code`",
        "👨‍👩‍👧‍👦",
        "🇩🇪",
        "e\u{301}\u{302}",
        "\u{200d}",
        "\t",
        "\r\n",
        "!",
        "<",
        "> ",
        "- ",
        "*bold*",
    ]);
    let run = prop::collection::vec(hard, 0..50).prop_map(|pieces| pieces.concat());
    prop_oneof![4 => run, 1 => "(?s).{0,250}", 1 => "[a-z]{0,30}( [a-z./:]{0,90}){0,6}"]
}

fn unit() -> impl Strategy<Value = LengthUnit> {
    prop::sample::select(UNITS.to_vec())
}

fn pieces<'t>(text: &'t str, marks: &'t TextElements, length: LengthLimit) -> Vec<Piece<'t>> {
    Pieces { text, length, marks, at: 0 }.collect()
}

/// Returns true if the text added before a piece only opens a block.
fn is_opening(added: &str) -> bool {
    let line = added.strip_suffix('\n').unwrap_or(added).trim_start();
    added.is_empty() || (added.lines().count() == 1 && line.starts_with(['`', '~']))
}

/// Returns true if the text added after a piece only closes a block.
fn is_closing(added: &str) -> bool {
    let is_sign = |c| "`~".contains(c);
    added.is_empty() || added.strip_prefix('\n').is_some_and(|line| line.chars().all(is_sign))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        // Most of the time goes into generating texts, which need no secure generator.
        rng_algorithm: RngAlgorithm::XorShift,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_part_fits_and_none_is_empty(text in text(), max in 64_usize..110, unit in unit()) {
        let length = LengthLimit { max, unit };
        let parts = split(&text, max, unit);
        prop_assert_eq!(&parts, &split(&text, max, unit), "the same again");
        for part in &parts {
            prop_assert!(length.fits(part), "{} units: {part:?}", length.measure(part));
            prop_assert!(parts.len() == 1 || !part.trim().is_empty());
        }
    }

    #[test]
    fn nothing_is_lost(text in text(), max in 64_usize..110, unit in unit()) {
        let length = LengthLimit { max, unit };
        let marks = TextElements::parse(&text, length);
        let mut at = 0;
        for piece in pieces(&text, &marks, length) {
            prop_assert!(text[at..piece.start].trim().is_empty(), "only white space is left out");
            prop_assert!(piece.start < piece.end);
            let part = piece.render(&text);
            let behind_opening = piece.opens.map_or(0, |fence| fence.opens_again.len() + 1);
            let (opening, rest) = part.split_at(behind_opening);
            let closing = rest.strip_prefix(&text[piece.start..piece.end]);
            prop_assert!(is_opening(opening) && closing.is_some_and(is_closing), "{part}");
            at = piece.end;
        }
        prop_assert!(text[at..].trim().is_empty());
    }

    #[test]
    fn every_part_closes_what_it_opens(text in text(), max in 64_usize..110, unit in unit()) {
        let parts = split(&text, max, unit);
        // A text that fits is not changed.
        let is_cut = parts != [text.as_str()];
        for part in parts.iter().filter(|_| is_cut) {
            prop_assert!(is_balanced(part), "{part}");
        }
    }

    #[test]
    fn no_link_is_torn(text in text(), max in 64_usize..110, unit in unit()) {
        let length = LengthLimit { max, unit };
        let marks = TextElements::parse(&text, length);
        let pieces = pieces(&text, &marks, length);
        // Fence lines also take room where a link is in code, and a written link may end within an address.
        let is_link = |token: &&str| {
            token.starts_with("https://") && !token.contains("](") && length.measure(token) < max / 2
        };
        let behind_link = ['`', '<', '>', '"'];
        let tokens = text.split_whitespace().filter_map(|token| token.split(behind_link).next());
        for token in tokens.filter(is_link) {
            let start = token.as_ptr() as usize - text.as_ptr() as usize;
            let torn = pieces.iter().find(|piece| start < piece.end && piece.end < start + token.len());
            prop_assert!(torn.is_none(), "{token} in {torn:?}");
        }
    }
}
