//! Plain HTTP/1.1 messages, read whole.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::conformance::limits::{BODY_BYTES_MAX, HEAD_BYTES_MAX, RESPONSE_WAIT};

/// Headers that describe one connection, or the body as it was sent.
const OF_THE_CONNECTION: [&str; 4] =
    ["connection", "keep-alive", "content-length", "transfer-encoding"];

/// A request or a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::conformance) struct PlainHttp {
    /// The request line or the status line.
    pub(in crate::conformance) first_line: String,
    pub(in crate::conformance) headers: Vec<(String, String)>,
    pub(in crate::conformance) body: Vec<u8>,
}

impl PlainHttp {
    /// A message with a body.
    pub(in crate::conformance) fn new(first_line: impl Into<String>, body: &[u8]) -> Self {
        Self { first_line: first_line.into(), headers: Vec::new(), body: body.to_vec() }
    }

    #[must_use]
    pub(in crate::conformance) fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(in crate::conformance) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The path of a request.
    pub(in crate::conformance) fn path(&self) -> &str {
        self.first_line.split(' ').nth(1).unwrap_or_default()
    }

    /// The status of a response; 0 if there is none.
    pub(in crate::conformance) fn status(&self) -> u16 {
        self.first_line.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default()
    }

    pub(in crate::conformance) fn is_success(&self) -> bool {
        (200..300).contains(&self.status())
    }

    pub(in crate::conformance) fn is_upgrade(&self) -> bool {
        self.header("upgrade").is_some_and(|to| to.eq_ignore_ascii_case("websocket"))
    }

    /// Returns the bytes as they arrived, without a body.
    pub(in crate::conformance) fn head_bytes(&self) -> Vec<u8> {
        let mut text = format!("{}\r\n", self.first_line);
        for (name, value) in &self.headers {
            text.extend([name, ": ", value, "\r\n"]);
        }
        text.push_str("\r\n");
        text.into_bytes()
    }

    /// Returns the bytes for a connection that ends or stays after the message.
    fn bytes(&self, connection: &str) -> Vec<u8> {
        let mut head = Self { body: Vec::new(), ..self.clone() };
        head.headers.retain(|(name, _)| {
            !OF_THE_CONNECTION.iter().any(|own| name.eq_ignore_ascii_case(own))
        });
        head = head.with_header("connection", connection);
        if !is_bodiless(self.status()) {
            head = head.with_header("content-length", &self.body.len().to_string());
        }
        [head.head_bytes(), self.body.clone()].concat()
    }

    /// Reads a request. `None`: the client closed the connection between two requests.
    pub(in crate::conformance) async fn read_request(
        stream: &mut BufReader<TcpStream>,
    ) -> io::Result<Option<Self>> {
        let Some(mut request) = read_head(stream).await? else { return Ok(None) };
        if request.header("content-length").is_some()
            || request.header("transfer-encoding").is_some()
        {
            request.body = read_body(stream, &request).await?;
        }
        Ok(Some(request))
    }

    /// Writes a response and keeps the connection.
    pub(in crate::conformance) async fn write_response(
        &self,
        stream: &mut BufReader<TcpStream>,
    ) -> io::Result<()> {
        stream.write_all(&self.bytes("keep-alive")).await?;
        stream.flush().await
    }

    /// Makes a request over a connection of its own.
    pub(in crate::conformance) async fn call(&self, server: SocketAddr) -> io::Result<Self> {
        let exchange = async {
            let mut stream = BufReader::new(TcpStream::connect(server).await?);
            stream.write_all(&self.bytes("close")).await?;
            stream.flush().await?;
            let response = read_head(&mut stream).await?;
            let mut response = response.ok_or(io::ErrorKind::UnexpectedEof)?;
            if !is_bodiless(response.status()) {
                response.body = read_body(&mut stream, &response).await?;
            }
            Ok(response)
        };
        timeout(RESPONSE_WAIT, exchange).await?
    }
}

const fn is_bodiless(status: u16) -> bool {
    matches!(status, 100..=199 | 204 | 304)
}

/// Reads a head. `None`: the connection ended before it.
pub(in crate::conformance) async fn read_head(
    stream: &mut (impl AsyncBufRead + Unpin),
) -> io::Result<Option<PlainHttp>> {
    let mut stream = stream.take(HEAD_BYTES_MAX as u64);
    let first_line = read_line(&mut stream).await?;
    if first_line.is_empty() {
        return Ok(None);
    }
    let mut head = PlainHttp::new(first_line, &[]);
    loop {
        let line = read_line(&mut stream).await?;
        let Some((name, value)) = line.split_once(':') else {
            return if line.is_empty() { Ok(Some(head)) } else { Err(malformed("a header")) };
        };
        head.headers.push((name.to_owned(), value.trim().to_owned()));
    }
}

async fn read_body(
    stream: &mut (impl AsyncBufRead + Unpin),
    head: &PlainHttp,
) -> io::Result<Vec<u8>> {
    let mut stream = stream.take(BODY_BYTES_MAX as u64);
    let is_chunked = head
        .header("transfer-encoding")
        .is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked"));
    if is_chunked {
        return read_chunks(&mut stream).await;
    }
    let mut body = Vec::new();
    let Some(length) = head.header("content-length") else {
        stream.read_to_end(&mut body).await?;
        return Ok(body);
    };
    let length: u64 = length.parse().map_err(|_| malformed("the length of a body"))?;
    let read = stream.take(length).read_to_end(&mut body).await?;
    if read as u64 == length { Ok(body) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

async fn read_chunks(stream: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(stream).await?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| malformed("a chunk"))?;
        if size == 0 {
            // Trailers, until the empty line.
            while !read_line(stream).await?.is_empty() {}
            return Ok(body);
        }
        let read = (&mut *stream).take(size).read_to_end(&mut body).await?;
        if read as u64 != size || !read_line(stream).await?.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Reads a line without its end. The end of the stream is an empty line.
async fn read_line(stream: &mut (impl AsyncBufRead + Unpin)) -> io::Result<String> {
    let mut line = Vec::new();
    stream.read_until(b'\n', &mut line).await?;
    let line = String::from_utf8(line).map_err(|_| malformed("a line"))?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn malformed(part: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{part} of an HTTP message is malformed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &str) -> io::Result<PlainHttp> {
        let mut stream = text.as_bytes();
        let mut message = read_head(&mut stream).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        message.body = read_body(&mut stream, &message).await?;
        Ok(message)
    }

    #[tokio::test]
    async fn a_body_has_a_length_or_chunks_or_lasts_until_the_end() {
        let cases = [
            ("a length", "Content-Length: 5\r\n\r\nhello and more"),
            (
                "chunks",
                "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=1\r\nlo\r\n0\r\nA: b\r\n\r\n",
            ),
            ("the end", "Date: now\r\n\r\nhello"),
        ];
        for (name, rest) in cases {
            let message = read(&format!("HTTP/1.1 200 OK\r\n{rest}")).await.unwrap();
            assert_eq!(message.body, b"hello", "{name}");
            assert_eq!(message.status(), 200, "{name}");
        }
    }

    #[tokio::test]
    async fn broken_messages_are_errors() {
        let cases = [
            ("a short body", "Content-Length: 5\r\n\r\nhell"),
            ("a strange length", "Content-Length: five\r\n\r\nhello"),
            ("a strange chunk", "Transfer-Encoding: chunked\r\n\r\nx\r\n"),
            ("a chunk that ends early", "Transfer-Encoding: chunked\r\n\r\n9\r\nhello"),
            ("no header", "nonsense\r\n\r\n"),
        ];
        for (name, rest) in cases {
            assert!(read(&format!("HTTP/1.1 200 OK\r\n{rest}")).await.is_err(), "{name}");
        }
    }

    #[test]
    fn a_message_is_passed_on_with_the_length_of_its_body() {
        let message = PlainHttp::new("HTTP/1.1 200 OK", b"hello")
            .with_header("Transfer-Encoding", "chunked")
            .with_header("Retry-After", "1");
        let text = String::from_utf8(message.bytes("close")).unwrap();

        let want = "HTTP/1.1 200 OK\r\nRetry-After: 1\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello";
        assert_eq!(text, want);
        let empty = PlainHttp::new("HTTP/1.1 204 No Content", &[]).bytes("close");
        assert!(!String::from_utf8(empty).unwrap().contains("content-length"));
    }
}
