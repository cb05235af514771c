use super::*;

/// Returns the expected HTML of a link.
fn link(url: &str, text: &str) -> String {
    format!(r#"<a href="{url}" rel="noopener noreferrer nofollow" target="_blank">{text}</a>"#)
}

#[test]
fn what_agents_write_is_shown() {
    let cases = [
        ("words", "hi", "<p>hi</p>\n".to_owned()),
        ("paragraphs", "a\n\nb", "<p>a</p>\n<p>b</p>\n".to_owned()),
        ("a line end", "a\nb", "<p>a<br />\nb</p>\n".to_owned()),
        ("bold", "**a**", "<p><strong>a</strong></p>\n".to_owned()),
        ("italic", "_a_", "<p><em>a</em></p>\n".to_owned()),
        ("code", "`a<b`", "<p><code>a&lt;b</code></p>\n".to_owned()),
        (
            "a block of code",
            "```sh\na <b>\nhttp://x.test\n```",
            "<pre><code class=\"language-sh\">a &lt;b&gt;\nhttp://x.test\n</code></pre>\n"
                .to_owned(),
        ),
        (
            "a link",
            "[a](https://x.test/?b&c)",
            format!("<p>{}</p>\n", link("https://x.test/?b&amp;c", "a")),
        ),
        ("a mailbox", "<ann@x.test>", "<p>ann@x.test</p>\n".to_owned()),
        (
            "a bare address",
            "see https://x.test/a_b_c.",
            format!("<p>see {}.</p>\n", link("https://x.test/a_b_c", "https://x.test/a_b_c")),
        ),
        ("a heading", "# a", "<h3>a</h3>\n".to_owned()),
        (
            "an image",
            "![alt](https://x.test/i.png)",
            format!("<p>{}</p>\n", link("https://x.test/i.png", "alt")),
        ),
    ];
    for (name, text, want) in cases {
        assert_eq!(render(text), want, "{name}");
    }
}

#[test]
fn nothing_but_our_own_markup_comes_out() {
    let cases = [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "<div\nonclick=alert(1)>\n\nx",
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt:alert(1))",
        "[a](  javascript:alert(1))",
        "[a](j&#97;vascript:alert(1))",
        "[a](data:text/html;base64,PHNjcmlwdD4=)",
        "[a](vbscript:x)",
        "[a](//evil.test)",
        "[a](/chat/x/messages)",
        "<javascript:alert(1)>",
        "![a](javascript:alert(1))",
        "![a](x\" onerror=\"alert(1))",
        "[a](https://x.test/\"onmouseover=\"alert(1))",
        "https://x.test/\"onmouseover=\"alert(1)",
        "[a](https://x.test 'x\" onclick=\"alert(1)')",
        "```\"><script>alert(1)</script>\nx\n```",
        "# a {onclick=alert(1)}",
        "[![a](https://x.test/i)](javascript:alert(1))",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "<!-- --><svg/onload=alert(1)>",
        "<style>*{display:none}</style>",
        "| a |\n|---|\n| <iframe src=x> |",
    ];
    for text in cases {
        for html in [render(text), render_plain(text)] {
            assert_eq!(foreign(&html), Vec::<String>::new(), "{text} became {html}");
        }
    }
}

/// Returns tags and attributes that the adapter never writes. The parser works like a browser's: a tag is `<` and a
/// letter or a slash, and quoted text does not end it.
fn foreign(html: &str) -> Vec<String> {
    const TAGS: [&str; 20] = [
        "p",
        "br",
        "strong",
        "em",
        "code",
        "pre",
        "a",
        "h3",
        "h4",
        "ul",
        "ol",
        "li",
        "del",
        "blockquote",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    ];
    let mut found = Vec::new();
    for tag in html.split('<').skip(1) {
        let inside = tag.split('>').next().unwrap_or_default().trim_end_matches('/').trim();
        let (name, attributes) = inside.split_once(' ').unwrap_or((inside, ""));
        let known = TAGS.contains(&name.trim_start_matches('/'));
        let link = name == "a"
            && attributes.split('"').count() == 7
            && SCHEMES.iter().any(|scheme| {
                attributes.to_ascii_lowercase().starts_with(&format!("href=\"{scheme}"))
            });
        let code = name == "code"
            && attributes.starts_with("class=\"language-")
            && attributes.split('"').count() == 3;
        if !known || !(attributes.is_empty() || link || code) {
            found.push(tag.to_owned());
        }
    }
    found
}

#[test]
fn the_check_itself_sees_foreign_markup() {
    for html in
        ["<script>", "<a href=\"javascript:x\" rel=\"a\" target=\"b\">", "<p onclick=\"x\">"]
    {
        assert!(!foreign(html).is_empty(), "{html}");
    }
}

#[test]
fn a_visitors_text_is_shown_as_it_was_written() {
    assert_eq!(render_plain("**a**\n<b>"), "<p>**a**<br>&lt;b&gt;</p>");
    assert_eq!(
        render_plain("http://x.test, ok"),
        format!("<p>{}, ok</p>", link("http://x.test", "http://x.test"))
    );
}

#[test]
fn a_deep_text_is_rendered_in_time() {
    let deep = ["[".repeat(8_000), "*a ".repeat(2_600), "> ".repeat(4_000), "`".repeat(8_000)];
    for text in deep {
        assert!(render(&text).len() < 400_000);
    }
}
