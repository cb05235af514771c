//! Properties: what holds for any text.

use proptest::prelude::*;

use super::*;

const CASES: u32 = 10_000;

/// Texts made of what is hard to cut, and of anything else.
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
    let run = prop::collection::vec(hard, 0..90).prop_map(|pieces| pieces.concat());
    prop_oneof![4 => run, 1 => "(?s).{0,400}", 1 => "[a-z]{0,30}( [a-z./:]{0,90}){0,12}"]
}

fn unit() -> impl Strategy<Value = LengthUnit> {
    prop::sample::select(UNITS.to_vec())
}

fn pieces<'t>(text: &'t str, marks: &'t Marks<'t>, length: Length) -> Vec<Piece> {
    Pieces { text, length, marks, at: 0 }.collect()
}

/// Whether a line that begins like a fence is too long to be kept whole, or its signs too many.
fn has_a_huge_fence(text: &str, max: usize) -> bool {
    let is_huge = |line: &str| {
        let signs = line.trim_start().chars().take_while(|c| "`~".contains(*c)).count();
        signs > max / 8 || (signs >= 3 && line.chars().count() > max / 4)
    };
    text.lines().any(is_huge)
}

/// Whether signs of a fence stand right behind something that fills a message: then either is
/// torn, and it is not the link.
fn has_a_glued_fence(text: &str, max: usize, unit: LengthUnit) -> bool {
    let length = Length { max, unit };
    let marks = Marks::of(text, length);
    pieces(text, &marks, length).iter().any(|piece| {
        let (before, rest) = text.split_at(piece.start);
        let is_glued = !before.ends_with(char::is_whitespace) && !before.is_empty();
        is_glued && ["```", "~~~"].iter().any(|fence| rest.starts_with(fence))
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_part_fits_and_none_is_empty(text in text(), max in 64_usize..200, unit in unit()) {
        let length = Length { max, unit };
        let parts = split(&text, max, unit);
        prop_assert_eq!(&parts, &split(&text, max, unit), "the same again");
        for part in &parts {
            prop_assert!(length.fits(part), "{} units: {part:?}", length.of(part));
            prop_assert!(parts.len() == 1 || !part.trim().is_empty());
        }
    }

    #[test]
    fn nothing_is_lost(text in text(), max in 64_usize..200, unit in unit()) {
        let length = Length { max, unit };
        let marks = Marks::of(&text, length);
        let mut at = 0;
        for piece in pieces(&text, &marks, length) {
            prop_assert!(text[at..piece.start].trim().is_empty(), "only white space is left out");
            prop_assert!(piece.start < piece.end);
            let part = piece.written(&text, &marks);
            let added = part.len() - (piece.end - piece.start);
            prop_assert!(part.contains(&text[piece.start..piece.end]));
            prop_assert!(added == 0 || piece.opens.or(piece.closes).is_some(), "only fences are put in");
            at = piece.end;
        }
        prop_assert!(text[at..].trim().is_empty());
    }

    #[test]
    fn every_part_closes_what_it_opens(text in text(), max in 64_usize..200, unit in unit()) {
        let parts = split(&text, max, unit);
        let is_fair =
            parts.len() > 1 && !has_a_huge_fence(&text, max) && !has_a_glued_fence(&text, max, unit);
        for part in parts.into_iter().filter(|_| is_fair) {
            prop_assert!(is_balanced(&part), "{part}");
        }
    }

    #[test]
    fn no_link_is_torn(text in text(), max in 64_usize..200, unit in unit()) {
        let length = Length { max, unit };
        let marks = Marks::of(&text, length);
        let pieces = pieces(&text, &marks, length);
        // Fence lines take room, too, where a link is in code.
        let is_link = |token: &&str| {
            token.starts_with("https://") && !token.contains(['`', '[', '<']) && length.of(token) < max / 2
        };
        for token in text.split_whitespace().filter(is_link) {
            let start = token.as_ptr() as usize - text.as_ptr() as usize;
            let torn = pieces.iter().find(|piece| start < piece.end && piece.end < start + token.len());
            prop_assert!(torn.is_none(), "{token} in {torn:?}");
        }
    }
}
