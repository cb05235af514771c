//! T18: responses that explode or do not end.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::*;

/// A hundred MiB of zeros, compressed twice.
fn bomb() -> Vec<u8> {
    serde_json::from_str(include_str!("../../../../../testing/gzip-bomb.json")).unwrap()
}

/// A server of one request. Its task returns the head of the request and the number of sent bytes.
struct Server {
    url: Url,
    served: JoinHandle<(String, usize)>,
}

impl Server {
    /// Responds with a head, and with a body as often as the client reads it.
    async fn open(head: &'static str, body: Vec<u8>, times: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let served = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let asked = read_head(&mut stream).await;
            let head = format!("HTTP/1.1 200 OK\r\n{head}\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut sent = 0;
            while sent < times.saturating_mul(body.len()) && stream.write_all(&body).await.is_ok() {
                sent += body.len();
            }
            (asked, sent)
        });
        Self { url, served }
    }
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        assert!(stream.read_buf(&mut head).await.unwrap() > 0, "the head ends");
    }
    String::from_utf8(head).unwrap()
}

#[tokio::test]
async fn a_compressed_response_is_not_asked_for_and_not_unpacked() {
    for encoding in ["gzip", "gzip, gzip", "deflate", "br", "zstd"] {
        let head = format!("content-type: application/json\r\ncontent-encoding: {encoding}\r\n");
        let server = Server::open(head.leak(), bomb(), 1).await;
        let client = HttpClient::open().unwrap();
        let response = send(client.request(Method::GET, server.url)).await.unwrap();

        assert_eq!(response.body, bomb(), "{encoding}");
        assert!(response.json::<serde_json::Value>().is_err(), "{encoding}");
        let (asked, _) = server.served.await.unwrap();
        assert!(!asked.to_ascii_lowercase().contains("accept-encoding"), "{asked}");
    }
}

#[tokio::test]
async fn a_compressed_file_is_passed_on_as_it_is() {
    let server = Server::open("content-encoding: gzip\r\n", bomb(), 1).await;
    let file = HttpClient::open().unwrap().download(server.url).await.unwrap();
    let parts: Vec<_> = file.bytes.try_collect().await.unwrap();

    assert_eq!(parts.concat(), bomb());
}

#[tokio::test]
async fn a_response_without_an_end_is_left() {
    const PART_BYTES: usize = 64 * 1024;
    let server = Server::open("", vec![b' '; PART_BYTES], usize::MAX).await;
    let client = HttpClient::open().unwrap();
    let response = send(client.request(Method::GET, server.url)).await;

    assert!(matches!(response, Err(PlatformCallError::Unanswered(_))));
    let (_, sent) = server.served.await.unwrap();
    // The rest is in the buffers of both sockets.
    assert!(sent < 4 * ANSWER_BYTES_MAX, "{sent} bytes were read");
}

#[test]
fn a_response_that_nests_without_end_is_unreadable() {
    for open in ["[", "{\"a\":", "[{\"a\":"] {
        let body = open.repeat(ANSWER_BYTES_MAX / open.len()).into_bytes();
        let response = PlatformResponse { status: StatusCode::OK, headers: HeaderMap::new(), body };
        assert!(response.json::<serde_json::Value>().is_err(), "{open}");
    }
}
