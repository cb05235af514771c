//! Z20: for every type and name of a file, each header is valid and names no path. Ranges are not served.

use http::HeaderValue;
use nightdesk_protocol::file_head::{disposition, mime};

/// The first line is the type, and the rest is the name.
pub(super) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (kind, name) = text.split_once('\n').unwrap_or(("", &text));
    check_kind(mime(Some(kind)));
    check_name(&disposition(Some(name)));
}

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
