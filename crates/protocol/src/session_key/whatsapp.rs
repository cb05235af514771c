//! Reduces WhatsApp addresses to their stable part.

use super::Unkeyable;

/// The platform whose addresses are reduced.
pub(crate) const WHATSAPP: &str = "whatsapp";

/// Returns the stable part of an address; empty if there is none.
///
/// The client also reads alias files of its own bridge, which do not exist behind a relay.
pub(super) fn stable_part(address: &str) -> Result<String, Unkeyable> {
    let once = normalise_address(address);
    if once.is_empty() {
        return Ok(once);
    }
    // The client normalises twice, and the second pass removes a second plus sign.
    let twice = normalise_address(&once);
    // Python's `$` also matches before a last newline.
    let plain = twice.strip_suffix('\n').unwrap_or(&twice);
    let safe = |b: u8| b.is_ascii_alphanumeric() || b"@.+-".contains(&b);
    let usable = !plain.is_empty() && plain.bytes().all(safe);
    if usable { Ok(twice) } else { Err(Unkeyable) }
}

/// Returns an address without its first plus sign, its device and its server.
fn normalise_address(address: &str) -> String {
    let mut address = strip_like_python(address).replacen('+', "", 1);
    let end = address.find([':', '@']).unwrap_or(address.len());
    address.truncate(end);
    address
}

/// Strips like Python, which treats four more control characters as white space.
pub(super) fn strip_like_python(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduces_addresses_as_the_stock_client_was_seen_to() {
        let cases = [
            ("60123:47@s.whatsapp.net", Ok("60123")),
            (" +60123@lid ", Ok("60123")),
            ("++1", Ok("1")),
            ("1+2", Ok("12")),
            ("123\n:4@x", Ok("123")),
            ("a\n++", Ok("a\n")),
            ("+", Ok("")),
            ("@lid", Ok("")),
            ("++", Err(Unkeyable)),
            ("a b", Err(Unkeyable)),
            ("é", Err(Unkeyable)),
        ];
        for (address, want) in cases {
            assert_eq!(stable_part(address).as_deref(), want.as_ref().copied(), "{address:?}");
        }
    }
}
