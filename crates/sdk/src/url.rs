//! Computes the address to dial from a configured URL.

use tokio_tungstenite::tungstenite::http::Uri;

/// The path of the line, at every desk.
const PATH: &str = "/relay";

/// Returns the address to dial for a desk's URL, as every client of the relay contract does: `https` becomes `wss`,
/// `http` becomes `ws`, and `/relay` is added if it is missing.
///
/// A query, a fragment or a user is refused: none of them would reach the desk as intended.
pub(crate) fn relay(base: &str) -> Option<Uri> {
    let base = base.trim().trim_end_matches('/');
    let (scheme, rest) = base.split_once("://")?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "https" | "wss" => "wss",
        "http" | "ws" => "ws",
        _ => return None,
    };
    if rest.contains(['?', '#', '@']) {
        return None;
    }
    let path = if rest.ends_with(PATH) { "" } else { PATH };
    let uri: Uri = format!("{scheme}://{rest}{path}").parse().ok()?;
    uri.host().is_some_and(|host| !host.is_empty()).then_some(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dials_where_every_client_dials() {
        let cases = [
            ("https://desk.example", Some("wss://desk.example/relay")),
            ("wss://desk.example/relay/", Some("wss://desk.example/relay")),
            (" http://desk:1/x ", Some("ws://desk:1/x/relay")),
            ("WS://[::1]:8800", Some("ws://[::1]:8800/relay")),
            ("desk.example", None),
            ("ftp://desk.example", None),
            ("https://", None),
            ("https://desk.example/relay?a=1", None),
            ("https://user:word@desk.example", None),
        ];
        for (base, want) in cases {
            assert_eq!(relay(base).map(|uri| uri.to_string()).as_deref(), want, "{base}");
        }
    }
}
