//! Encodes and decodes WebSocket frames, and reads the two fields of an entry that a proof's gateway needs.

use std::net::SocketAddr;

use anyhow::{Result, ensure};

/// Bit of a frame that is the only one of its message.
const LAST: u8 = 0x80;
const TEXT: u8 = 0x1;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xa;

/// Bit in the length byte that marks a masked frame.
const MASKED: u8 = 0x80;

/// Values of the length byte: the length follows in two bytes, or in eight.
const MEDIUM: u8 = 0x7e;
const LONG: u8 = 0x7f;

/// A mask of zeros, which is valid and the cheapest.
const NO_MASK: [u8; 4] = [0; 4];

/// Content of one frame of the desk.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said<'a> {
    Text(&'a [u8]),
    Ping(&'a [u8]),
    /// The answer to a ping of the gateway.
    Pong,
    Closed(u16),
}

/// Returns the request that opens a line.
pub(crate) fn upgrade(desk: SocketAddr, token: &str) -> String {
    format!(
        "GET /relay HTTP/1.1\r\nhost: {desk}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: bmlnaHRkZXNrLXByb3ZlIQ==\r\n\
         authorization: Bearer {token}\r\n\r\n"
    )
}

/// Returns the end of the head of an HTTP response, if it is complete.
pub(crate) fn head_end(bytes: &[u8]) -> Option<usize> {
    const END: &[u8] = b"\r\n\r\n";
    find(bytes, END).map(|at| at + END.len())
}

/// Returns the status of a possibly incomplete response.
pub(crate) fn status(answer: &[u8]) -> Option<u16> {
    let digits = answer.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Returns the first frame and its length, if it is complete. The desk never fragments a message.
pub(crate) fn first_frame(bytes: &[u8]) -> Result<Option<(Said<'_>, usize)>> {
    let [first, second, rest @ ..] = bytes else { return Ok(None) };
    ensure!(second & MASKED == 0, "the desk masked a frame");
    let (head, payload) = match (second, rest) {
        (&MEDIUM, [high, low, ..]) => (4, usize::from(u16::from_be_bytes([*high, *low]))),
        (&MEDIUM, _) => return Ok(None),
        (&LONG, _) => anyhow::bail!("the desk sent more than a proof asks for"),
        (short, _) => (2, usize::from(*short)),
    };
    let Some(payload) = bytes.get(head..head + payload) else { return Ok(None) };
    let said = match first ^ LAST {
        TEXT => Said::Text(payload),
        PING => Said::Ping(payload),
        PONG => Said::Pong,
        CLOSE => Said::Closed(payload.first_chunk().map_or(0, |code| u16::from_be_bytes(*code))),
        other => anyhow::bail!("the desk sent a frame of kind {other:#x}"),
    };
    Ok(Some((said, head + payload.len())))
}

/// Returns the unmasked payload of a client's first frame and the frame's length, if it is complete.
pub(crate) fn first_masked(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let [_, second, rest @ ..] = bytes else { return None };
    let (head, payload) = match (second & !MASKED, rest) {
        (MEDIUM, [high, low, ..]) => (4, usize::from(u16::from_be_bytes([*high, *low]))),
        (LONG, [length @ .., _]) if length.len() >= 8 => {
            (10, usize::try_from(u64::from_be_bytes(*length.first_chunk()?)).ok()?)
        }
        (MEDIUM | LONG, _) => return None,
        (short, _) => (2, usize::from(short)),
    };
    let mask: [u8; 4] = *bytes.get(head..)?.first_chunk()?;
    let begin = head + mask.len();
    let payload = bytes.get(begin..begin + payload)?;
    let plain = payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    Some((plain, begin + payload.len()))
}

/// Returns true if this line describes a platform.
pub(crate) fn is_descriptor(line: &[u8]) -> bool {
    line.starts_with(b"{\"type\":\"descriptor\"")
}

/// The fields of an entry that a gateway reads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    /// The id to ack it by.
    pub(crate) buffer_id: &'a [u8],
    /// The number that the platform gave its event, or the sender its letter.
    pub(crate) event: u64,
}

/// Reads a line, if it is an entry. The event's text comes first and has no quotation marks, so no part of it can be
/// taken for a key.
pub(crate) fn entry(line: &[u8]) -> Option<Entry<'_>> {
    // The desk names a letter's message, with dashes. The sender's own id comes after that.
    let event =
        number(line, b"\"message_id\":\"e").or_else(|| number(line, b"\"dispatch_id\":\"e"))?;
    let buffer_id = value(line, b"\"bufferId\":\"", find_last)?;
    Some(Entry { buffer_id, event })
}

/// Returns the number after a key.
fn number(line: &[u8], key: &[u8]) -> Option<u64> {
    std::str::from_utf8(value(line, key, find)?).ok()?.parse().ok()
}

/// Returns the text between a key and the next quotation mark.
fn value<'a>(
    line: &'a [u8],
    key: &[u8],
    find: impl Fn(&[u8], &[u8]) -> Option<usize>,
) -> Option<&'a [u8]> {
    let rest = &line[find(line, key)? + key.len()..];
    rest.split(|byte| *byte == b'"').next()
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn find_last(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).rposition(|window| window == what)
}

/// Appends a text frame.
pub(crate) fn put_text(out: &mut Vec<u8>, payload: &[u8]) {
    put(out, TEXT, &[payload]);
}

/// Appends the ack of an entry.
pub(crate) fn put_ack(out: &mut Vec<u8>, buffer_id: &[u8]) {
    put(out, TEXT, &[b"{\"type\":\"inbound_ack\",\"bufferId\":\"", buffer_id, b"\"}\n"]);
}

/// Appends the answer to a ping.
pub(crate) fn put_pong(out: &mut Vec<u8>, payload: &[u8]) {
    put(out, PONG, &[payload]);
}

fn put(out: &mut Vec<u8>, kind: u8, payload: &[&[u8]]) {
    let length: usize = payload.iter().map(|part| part.len()).sum();
    out.push(LAST | kind);
    if let Ok(short @ 0..MEDIUM) = u8::try_from(length) {
        out.push(MASKED | short);
    } else {
        out.push(MASKED | MEDIUM);
        out.extend_from_slice(&u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
    }
    out.extend_from_slice(&NO_MASK);
    for part in payload {
        out.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_protocol::FromGateway;

    use super::*;

    fn from_desk(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![first];
        match u8::try_from(payload.len()) {
            Ok(short) if short < MEDIUM => bytes.push(short),
            _ => {
                bytes.push(MEDIUM);
                bytes.extend(u16::try_from(payload.len()).unwrap().to_be_bytes());
            }
        }
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn reads_a_status_as_soon_as_it_is_there() {
        assert_eq!(status(b"HTTP/1.1 20"), None);
        assert_eq!(status(b"HTTP/1.1 200"), Some(200));
        assert_eq!(status(b"HTTP/1.1 503 Service Unavailable\r\n"), Some(503));
        assert_eq!(status(b"SSH-2.0-OpenSSH"), None);
    }

    #[test]
    fn a_frame_is_read_when_it_is_whole() {
        for payload in [0, 1, 125, 126, 127, 700] {
            let payload = vec![b'x'; payload];
            let frame = from_desk(LAST | TEXT, &payload);
            for cut in 0..frame.len() {
                assert_eq!(first_frame(&frame[..cut]).unwrap(), None, "{cut} of {}", frame.len());
            }
            let two = [frame.clone(), frame.clone()].concat();
            let want = Some((Said::Text(payload.as_slice()), frame.len()));
            assert_eq!(first_frame(&two).unwrap(), want);
        }
    }

    #[test]
    fn tells_frames_apart() {
        let closed = [&4401_u16.to_be_bytes()[..], b"revoked"].concat();

        assert_eq!(first_frame(&[LAST | PING, 1, 7]).unwrap(), Some((Said::Ping(&[7]), 3)));
        assert_eq!(first_frame(&[LAST | PONG, 1, 7]).unwrap(), Some((Said::Pong, 3)));
        let close = from_desk(LAST | CLOSE, &closed);
        assert_eq!(first_frame(&close).unwrap(), Some((Said::Closed(4401), close.len())));
        for (name, odd) in [("a piece", [TEXT, 0]), ("masked", [LAST | TEXT, MASKED])] {
            assert!(first_frame(&odd).is_err(), "{name}");
        }
    }

    #[test]
    fn finds_the_event_and_the_name_of_an_entry() {
        let line = b"{\"type\":\"inbound\",\"event\":{\"text\":\"hi\",\"message_id\":\"e000042\",\
                     \"source\":{}},\"bufferId\":\"AbC-_9\"}\n";

        assert_eq!(entry(line), Some(Entry { buffer_id: b"AbC-_9", event: 42 }));
        let letter = b"{\"type\":\"inbound\",\"event\":{\"text\":\"hi\",\"message_id\":\"e0-11\",\
                       \"letter\":{\"dispatch_id\":\"e43\"}},\"bufferId\":\"AbC-_9\"}\n";
        assert_eq!(entry(letter), Some(Entry { buffer_id: b"AbC-_9", event: 43 }));
        assert_eq!(entry(b"{\"type\":\"going_idle_ack\"}\n"), None);
    }

    #[test]
    fn what_a_client_said_is_read_when_it_is_whole() {
        for length in [0, 5, 125, 126, 700] {
            let mut frame = Vec::new();
            put_text(&mut frame, &vec![b'x'; length]);
            let mask = frame.len() - length - NO_MASK.len();
            frame[mask..mask + 4].copy_from_slice(&[1, 2, 3, 4]);
            let plain: Vec<u8> =
                [1, 2, 3, 4].iter().cycle().take(length).map(|mask| b'x' ^ mask).collect();

            assert_eq!(first_masked(&frame[..frame.len() - 1]), None, "{length}");
            assert_eq!(first_masked(&frame), Some((plain, frame.len())), "{length}");
        }
    }

    #[test]
    fn what_we_say_is_what_the_desk_reads() {
        let mut out = Vec::new();
        put_ack(&mut out, b"AbC-_9");

        let payload = &out[6..];
        assert_eq!(out[..2], [LAST | TEXT, MASKED | u8::try_from(payload.len()).unwrap()]);
        let ack = FromGateway::InboundAck { buffer_id: "AbC-_9".to_owned() };
        assert_eq!(FromGateway::decode(payload.trim_ascii()), ack);

        out.clear();
        put_text(&mut out, &[b'x'; 300]);
        assert_eq!(out[..8], [LAST | TEXT, MASKED | MEDIUM, 1, 44, 0, 0, 0, 0]);
        assert_eq!(out.len(), 308);
    }
}
