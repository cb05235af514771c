use proptest::prelude::*;

use super::*;

#[test]
fn a_kind_is_said_as_it_was_if_it_is_one() {
    let cases = [
        (Some("image/png"), "image/png"),
        (Some("text/html; charset=utf-8"), "text/html"),
        (Some("image/svg+xml"), "image/svg+xml"),
        (None, "application/octet-stream"),
        (Some(""), "application/octet-stream"),
        (Some("image"), "application/octet-stream"),
        (Some("image/png\r\nset-cookie: a=b"), "application/octet-stream"),
        (Some("a b/c"), "application/octet-stream"),
    ];

    for (said, want) in cases {
        assert_eq!(mime(said), want, "{said:?}");
    }
}

#[test]
fn a_name_is_no_path_and_no_header() {
    let cases = [
        ("cat.png", "attachment; filename=\"cat.png\"; filename*=UTF-8''cat.png"),
        ("../../etc/passwd", "attachment; filename=\"passwd\"; filename*=UTF-8''passwd"),
        ("C:\\temp\\a.txt", "attachment; filename=\"a.txt\"; filename*=UTF-8''a.txt"),
        ("a\"; b=\"c", "attachment; filename=\"a___b=_c\"; filename*=UTF-8''a%22%3B%20b%3D%22c"),
        ("Möwe", "attachment; filename=\"M_we\"; filename*=UTF-8''M%C3%B6we"),
        (
            "x\r\nset-cookie: a",
            "attachment; filename=\"xset-cookie:_a\"; filename*=UTF-8''xset-cookie%3A%20a",
        ),
        ("..", "attachment"),
        ("", "attachment"),
    ];

    for (name, want) in cases {
        assert_eq!(disposition(Some(name)), want, "{name:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// Z20: for any file name and any media type.
    #[test]
    fn whatever_is_said_of_a_file_stays_one_header(name in ".{0,40}", kind in ".{0,40}") {
        let said = disposition(Some(&name));
        prop_assert!(said.starts_with("attachment"));
        prop_assert!(said.bytes().all(|b| (0x20..0x7f).contains(&b)));
        prop_assert!(!said.contains(['/', '\\']), "no path: {}", said);
        prop_assert!(matches!(said.matches('"').count(), 0 | 2), "no way out: {}", said);
        let kind = mime(Some(&kind));
        prop_assert_eq!(kind.matches('/').count(), 1);
        prop_assert!(!kind.contains([' ', ';', ',', '"']));
    }
}
