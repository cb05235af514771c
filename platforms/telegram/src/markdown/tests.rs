use nightdesk_fake_telegram::markdown::plain;
use proptest::prelude::*;

use super::*;

#[test]
fn markdown_becomes_telegrams_own() {
    let cases = [
        ("plain", "a. b! (c) - d", r"a\. b\! \(c\) \- d"),
        ("bold", "**a** and __b__", "*a* and *b*"),
        ("italic", "*a* and _b_", "_a_ and _b_"),
        ("struck", "~~a~~", "~a~"),
        ("bold in bold", "**a __b__ c**", "*a b c*"),
        ("italic in bold", "**a *b* c**", "*a _b_ c*"),
        ("italics side by side", "*a*_b_", "_a_**_b_"),
        ("a heading", "# A **b**\nc", "*A b*\n\nc"),
        ("code", "`a.b*`", "`a.b*`"),
        ("a sign in code", r"`a\b`", r"`a\\b`"),
        ("a block", "```rust\nlet a = `b`;\n```\nc", "```rust\nlet a = \\`b\\`;\n```\n\nc"),
        ("a block with an odd language", "```a b\nc\n```", "```a\nc\n```"),
        ("a list", "- a\n- b\n  - c\n\nd", "• a\n• b\n  • c\n\nd"),
        ("numbers", "3. a\n4. b", "3\\. a\n4\\. b"),
        ("a quote", "> a\n> b\n\nc", "\\> a\n\\> b\n\nc"),
        ("a link", "[a.b](https://x.y/(z))", r"[a\.b](https://x.y/(z\))"),
        ("a link without text", "[](https://x.y)", r"[https://x\.y](https://x.y)"),
        ("a picture", "![a](https://x.y/z.png)", "[a](https://x.y/z.png)"),
        ("a person by id", "[a](tg://user?id=1)", "a"),
        ("html", "a <b>c</b>", r"a <b\>c</b\>"),
        ("lines", "a\nb  \nc\n\n\nd", "a\nb\nc\n\nd"),
        ("a rule", "a\n\n---\n\nb", "a\n\n———\n\nb"),
        ("escaped before", r"a\. \*b\*", r"a\. \*b\*"),
        ("a table", "a|b\n-|-\n1|2", "a\\|b\n\\-\\|\\-\n1\\|2"),
    ];
    for (name, text, want) in cases {
        assert_eq!(render(text), want, "{name}");
    }
}

/// Fragments with and without a meaning in Markdown.
const PIECES: [&str; 29] = [
    "**",
    "*",
    "_",
    "__",
    "~~",
    "`",
    "```",
    "\n",
    "\n\n",
    "> ",
    "- ",
    "1. ",
    "# ",
    "[",
    "]",
    "(https://x.y)",
    "![",
    "\\",
    "a",
    "b c",
    ".",
    "😀",
    "|",
    "<b>",
    "&amp;",
    "  ",
    "\u{301}",
    "---",
    "\t",
];

fn markdown() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40);
    pieces.prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn whatever_is_written_telegram_can_read(text in markdown()) {
        let rendered = render(&text);
        let shown = plain(&rendered);
        prop_assert!(shown.is_ok(), "{rendered}: {shown:?}");
        let letters = |text: &str| text.chars().filter(|c| "abc😀".contains(*c)).collect::<String>();
        let shown = letters(&shown.unwrap());
        // Names of languages and of entities are markup.
        if !["```", "~~~", "&", "["].iter().any(|markup| text.contains(markup)) {
            prop_assert_eq!(shown, letters(&text));
        }
    }
}
