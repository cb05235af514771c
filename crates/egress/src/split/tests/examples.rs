//! Examples: one text for each element that must stay whole.

use std::time::{Duration, Instant};

use super::*;

#[test]
fn what_fits_is_left_as_it_is() {
    for text in ["", " ", "one\n\n", "```\nopen", &"x".repeat(64)] {
        assert_eq!(in_chars(text, 64), [text]);
    }
    assert_eq!(in_chars(&"x".repeat(65), 64).len(), 2, "past the limit");
}

#[test]
fn a_pair_of_two_units_counts_as_two() {
    let text = "😀".repeat(40);

    assert_eq!(split(&text, 64, LengthUnit::Chars).len(), 1);
    assert_eq!(split(&text, 64, LengthUnit::Utf16).len(), 2);
}

#[test]
fn cuts_are_made_where_they_hurt_least() {
    let words = "word ".repeat(9);
    let cases = [
        ("a blank line", format!("{words}\n\nword\nword. {words}"), words.clone()),
        ("a line", format!("{words}\nword. {words}"), words.clone()),
        ("a sentence", format!("{words}stop. {words}"), format!("{words}stop.")),
        ("a word", format!("{words}{words}"), "word ".repeat(13)),
    ];
    for (name, text, want) in &cases {
        assert_eq!(in_chars(text, 64)[0], want.trim_end(), "{name}");
    }
}

#[test]
fn indentation_of_the_next_line_is_kept() {
    let text = format!("{}\n\n    indented", "x".repeat(60));

    assert_eq!(in_chars(&text, 64)[1], "    indented");
}

#[test]
fn nothing_that_reads_as_one_is_torn() {
    let link = "https://example.org/a/long/path?with=a&query=too";
    let cases = [
        ("a link", link.to_owned()),
        ("a written link", format!("[what it says]({link})")),
        ("a link in brackets", "https://en.example.org/wiki/Desk_(furniture_(old))".to_owned()),
        ("inline code", "`let night = desk.open(now)?;`".to_owned()),
        ("inline code with a backtick", "``a ` b ` c and so on``".to_owned()),
        ("a family", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦".to_owned()),
    ];
    for (name, whole) in &cases {
        for before in 1..64 {
            let text = format!("{}{whole} and then some more text", "x".repeat(before));
            let parts = in_chars(&text, 64);
            let pieces = if *name == "a family" { "👨‍👩‍👧‍👦" } else { whole };
            let found: usize = parts.iter().map(|part| part.matches(pieces).count()).sum();
            assert_eq!(found, text.matches(pieces).count(), "{name} after {before}: {parts:?}");
        }
    }
}

#[test]
fn accents_stay_on_their_letters() {
    let text = "e\u{301}".repeat(100);

    for part in in_chars(&text, 65) {
        assert!(part.starts_with('e') && part.ends_with('\u{301}'), "{part:?}");
    }
}

#[test]
fn a_long_block_is_closed_and_opened_again() {
    let code = "let a = 1;\n".repeat(12);
    let parts = in_chars(&format!("Look:\n```rust\n{code}```\nDone."), 64);

    assert!(parts.len() > 2);
    for part in &parts {
        assert!(is_balanced(part), "{part}");
        assert!(part.contains("```rust\nlet a"), "the same words after the fence: {part}");
    }
    assert!(parts[0].starts_with("Look:\n```rust\n"));
    assert!(parts.last().is_some_and(|part| part.ends_with("```\nDone.")));
}

#[test]
fn a_block_that_fits_goes_whole_into_the_next_part() {
    let block = "```\none\ntwo\nthree\n```";
    let text = format!("{}\n{block}", "x".repeat(55));

    assert_eq!(in_chars(&text, 64)[1], block);
}

#[test]
fn longer_fences_and_tildes_are_their_own() {
    let code = "```\ninner\n```\n".repeat(8);
    for fence in ["````", "~~~"] {
        for part in in_chars(&format!("{fence}md\n{code}{fence}"), 64) {
            assert!(part.starts_with(&format!("{fence}md\n")), "{part}");
            assert!(part.ends_with(&format!("\n{fence}")), "{part}");
        }
    }
}

#[test]
fn an_unclosed_block_is_closed() {
    let parts = in_chars(&format!("```\n{}", "code\n".repeat(40)), 64);

    assert!(parts.iter().all(|part| is_balanced(part)), "{parts:?}");
}

/// The text, the maximum, and the range that must stay whole. The property tests found the first five.
#[test]
fn a_fence_that_came_about_by_a_cut_is_closed_too() {
    let link = "https://example.org/path?q=1";
    let written = "[text](https://a.example/b)";
    let words = "wordwordwordword";
    let cases = [
        (
            "stray signs behind links that fill a message",
            format!(" {written}{written}{link}- ```rust\n{written}{link}wordwordwordword"),
            83,
            format!("{written}{written}{link}"),
        ),
        (
            "signs behind a link that fills a part of code",
            format!("\n```\n{link}{written}. ```\n```\nword"),
            64,
            format!("{link}{written}"),
        ),
        (
            "a fence whose words fill a message",
            format!("\n~~~\n\n~~~\n``````{link}    👨‍👩‍👧‍👦*bold*    {link} "),
            84,
            format!("{link} \n``````"),
        ),
        (
            "a sign that ends a link, behind code",
            format!(
                "{words}\n~~~\n\n~~~\nwordword\n```\n{words}`code`{words}word. wordword\n```\n\
                 {written}\t{link}。> {written}"
            ),
            64,
            format!("{link}。"),
        ),
        (
            "a sign that ends a link, behind words",
            format!(
                "{written}{words}word🇩🇪 word {link}。> `. \
                 {written}word. {written}word````code`    . "
            ),
            84,
            format!("{link}。"),
        ),
        (
            "words longer than a message",
            format!("```{}\ncode\n```", " word".repeat(40)),
            64,
            "code".into(),
        ),
        ("an indented end", format!("```\ncode\n{}```\n{link}", " ".repeat(90)), 64, link.into()),
        ("more signs than an eighth", format!("{}\n{link}", "`".repeat(150)), 64, link.into()),
    ];
    for (name, text, max, whole) in &cases {
        let parts = in_chars(text, *max);
        assert!(parts.iter().all(|part| part.chars().count() <= *max), "{name}: {parts:?}");
        assert!(parts.iter().all(|part| is_balanced(part)), "{name}: {parts:?}");
        assert!(parts.iter().any(|part| part.contains(whole)), "{name}: {parts:?}");
    }
}

#[test]
fn the_words_of_a_long_fence_go_on_as_code() {
    let parts = in_chars(&format!("```{}\ncode\n```", " word".repeat(16)), 64);
    let (first, last) = (" word".repeat(11), " word".repeat(5));

    assert_eq!(parts, [format!("```{first}\n```"), format!("```\n{last}\ncode\n```")]);
}

#[test]
fn only_what_is_longer_than_a_message_is_torn() {
    let link = format!("https://{}", "x".repeat(100));
    let parts = in_chars(&format!("see {link} there"), 64);

    assert_eq!(parts[0], "see");
    assert_eq!(parts[1].len(), 64);
    assert_eq!(parts[1..].concat().replace(' ', ""), format!("{link}there"));
}

#[test]
fn a_void_is_no_message() {
    assert_eq!(in_chars(&" \n".repeat(100), 64), [""; 0]);
    assert_eq!(in_chars(&format!("{}x", " ".repeat(100)), 64), ["x"]);
}

/// Long enough that a scan which restarts at every sign takes minutes, and short enough that a linear scan ends at
/// once, also on a busy machine.
const LONG_BYTES: usize = 200_000;

fn many_are_soon_split(signs: &[&str]) {
    for sign in signs {
        is_soon_split(&sign.repeat(LONG_BYTES / sign.len()), 4_096);
    }
}

fn is_soon_split(text: &str, max: usize) {
    let began = Instant::now();
    let parts = split(text, max, LengthUnit::Utf16);
    let sample: String = text.chars().take(10).collect();
    assert!(began.elapsed() < Duration::from_secs(20), "{sample:?}");
    assert!(
        parts.iter().all(|part| (1..=max).contains(&part.encode_utf16().count())),
        "{sample:?}"
    );
}

#[test]
fn many_backticks_are_soon_split() {
    many_are_soon_split(&["`", "`a``", "``` ", "```\n"]);
}

#[test]
fn many_brackets_are_soon_split() {
    let nested = ["[".repeat(1_000), "](x)".repeat(1_000)].concat();
    many_are_soon_split(&["[", "[a](b", "[[]](x)", "a://", &nested]);
}

#[test]
fn much_of_little_is_soon_split() {
    many_are_soon_split(&["\n", " ", "x", "\u{301}", "👨\u{200d}", "🇩"]);
}

#[test]
fn much_white_space_in_code_is_soon_split() {
    for space in [" ", "\n", "\t \n"] {
        let text = format!("```\n{}", space.repeat(LONG_BYTES / space.len()));
        is_soon_split(&text, MESSAGE_LENGTH_MIN);
        is_soon_split(&text, 4_096);
    }
}
