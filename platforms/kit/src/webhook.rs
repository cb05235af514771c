//! Reads the requests of a platform's webhook.

mod unambiguous;

use std::collections::HashMap;

use http::{HeaderMap, HeaderValue};
use nightdesk_port::ReceiveError;
use serde::Deserialize;

use unambiguous::UnambiguousJson;

/// Returns the only header of a name. Two headers are rejected, because a proxy may have checked the other one.
pub fn only_header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then_some(value)
}

/// Returns the only header of a name as text.
pub fn only_header_text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    only_header(headers, name)?.to_str().ok()
}

/// Parses a form in which no field has a name twice, because parsers differ in the value that counts.
pub fn read_form(body: &[u8]) -> Result<HashMap<String, String>, ReceiveError> {
    let mut fields = HashMap::new();
    for (name, value) in form_urlencoded::parse(body) {
        if fields.insert(name.into_owned(), value.into_owned()).is_some() {
            return Err(ReceiveError::Unreadable);
        }
    }
    Ok(fields)
}

/// Parses JSON. The error of `serde` may quote the text, so it is discarded.
pub fn read_json<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ReceiveError> {
    serde_json::from_slice(body).map_err(|_| ReceiveError::Unreadable)
}

/// Checks that every JSON parser reads a body in the same way: it is UTF-8 without a byte order mark, no object has a
/// name twice, every escape is a character, every number is finite, and the nesting is limited. Otherwise a proxy that
/// inspects bodies could see another event than the desk.
pub fn check_unambiguous(body: &[u8]) -> Result<(), ReceiveError> {
    read_json::<UnambiguousJson>(body).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    // T09
    #[test]
    fn a_form_with_a_name_twice_is_unreadable() {
        let form = read_form(b"a=1&b=%C3%A4+x&c=").unwrap();
        assert_eq!(form["b"], "ä x");
        assert_eq!(form.len(), 3);
        for body in ["a=1&a=2", "a=1&a=1", "a=1&%61=2", "a&a"] {
            assert_eq!(read_form(body.as_bytes()), Err(ReceiveError::Unreadable), "{body}");
        }
    }

    // T09
    #[test]
    fn a_body_that_parsers_read_differently_is_unreadable() {
        let utf16: Vec<u8> = r#"{"a":1}"#.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let deep = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
        let cases: Vec<(&str, Vec<u8>)> = vec![
            ("a name twice", br#"{"a":1,"a":2}"#.to_vec()),
            ("a name twice with one value", br#"{"a":1,"a":1}"#.to_vec()),
            ("a name twice below", br#"{"a":[{"b":{"c":1,"c":2}}]}"#.to_vec()),
            ("an escaped name", br#"{"a":1,"\u0061":2}"#.to_vec()),
            ("an empty name twice", br#"{"":1,"":2}"#.to_vec()),
            ("a byte order mark", b"\xef\xbb\xbf{}".to_vec()),
            ("UTF-16", utf16),
            ("Latin 1", b"{\"a\":\"caf\xe9\"}".to_vec()),
            ("an overlong character", b"{\"a\":\"\xc0\xaf\"}".to_vec()),
            ("a surrogate in UTF-8", b"{\"a\":\"\xed\xa0\x80\"}".to_vec()),
            ("a lone surrogate", br#"{"a":"\ud800"}"#.to_vec()),
            ("a lone low surrogate", br#"{"a":"\udc00"}"#.to_vec()),
            ("surrogates in disorder", br#"{"a":"\udc00\ud800"}"#.to_vec()),
            ("a lone surrogate in a name", br#"{"\ud800":1}"#.to_vec()),
            ("a number past all others", br#"{"a":1e999}"#.to_vec()),
            ("not a number", br#"{"a":NaN}"#.to_vec()),
            ("infinity", br#"{"a":-Infinity}"#.to_vec()),
            ("a number in hex", br#"{"a":0x10}"#.to_vec()),
            ("a number with a leading zero", br#"{"a":010}"#.to_vec()),
            ("a number with a sign", br#"{"a":+1}"#.to_vec()),
            ("a comment", br#"{"a":1/*,"b":2*/}"#.to_vec()),
            ("a comma at the end", br#"{"a":1,}"#.to_vec()),
            ("single quotes", br"{'a':1}".to_vec()),
            ("a name without quotes", br"{a:1}".to_vec()),
            ("a newline in a text", b"{\"a\":\"x\ny\"}".to_vec()),
            ("a null byte", b"{\"a\":\"x\0y\"}".to_vec()),
            ("a null byte at the end", b"{}\0".to_vec()),
            ("two values", br"{}{}".to_vec()),
            ("nothing", Vec::new()),
            ("nesting without end", deep(100_000)),
            ("an unfinished nesting", vec![b'['; 100_000]),
            ("nested objects", br#"{"a":"#.repeat(100_000)),
        ];
        for (name, body) in cases {
            assert_eq!(check_unambiguous(&body), Err(ReceiveError::Unreadable), "{name}");
        }
    }

    #[test]
    fn a_body_that_all_parsers_read_alike_is_read() {
        let cases = [
            "{}",
            "null",
            r#" {"a":{"a":[1,-2,3.5,1e3,true,false,null,{"a":""}]},"b":{"a":1}} "#,
            r#"{"a":"caf\u00e9 \ud83d\ude00 \n \/"}"#,
            r#"{"id":9007199254740993,"other":18446744073709551615}"#,
            r#"{"a":1,"A":2}"#,
        ];
        for body in cases {
            assert_eq!(check_unambiguous(body.as_bytes()), Ok(()), "{body}");
        }
    }
}
