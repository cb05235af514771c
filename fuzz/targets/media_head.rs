//! Z20: whatever a file is said to be and to be called, its head is one header each, which names no path. Ranges
//! are not served.
#![no_main]
#![expect(clippy::expect_used, reason = "what is no header is a finding")]

use http::HeaderValue;
use libfuzzer_sys::fuzz_target;
use nightdesk_protocol::file_head::{disposition, mime};

// A line is what it is said to be, and the rest is what it is called.
fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (kind, name) = text.split_once('\n').unwrap_or(("", &text));
    check_kind(mime(Some(kind)));
    check_name(&disposition(Some(name)));
});

fn check_kind(kind: &str) {
    HeaderValue::from_str(kind).expect("it is one header");
    assert!(kind.split('/').count() == 2 && !kind.contains([';', ',', ' ', '"']), "{kind}");
}

fn check_name(said: &str) {
    HeaderValue::from_str(said).expect("it is one header");
    assert!(said.starts_with("attachment") && said.is_ascii(), "{said}");
    let Some((_, named)) = said.split_once("filename=\"") else { return };
    let (plain, rest) = named.split_once('"').unwrap_or(("\"", ""));
    let whole = rest.strip_prefix("; filename*=UTF-8''").unwrap_or("\"");
    for name in [plain, whole] {
        assert!(!name.starts_with('.') && !name.contains(['/', '\\', '"', ';']), "{said}");
    }
}
