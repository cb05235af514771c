//! A listener with TLS on a real socket.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use rcgen::generate_simple_self_signed;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream as ClientStream;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::*;
use crate::serve;

const NAME: &str = "localhost";

/// A self-signed certificate, as PEM.
struct TestCertificate {
    chain: String,
    key: String,
}

impl TestCertificate {
    fn issue() -> Self {
        let made = generate_simple_self_signed([NAME.to_owned()]).unwrap();
        Self { chain: made.cert.pem(), key: made.signing_key.serialize_pem() }
    }

    fn pair(&self) -> CertificatePair {
        CertificatePair::parse(self.chain.as_bytes(), self.key.as_bytes()).unwrap()
    }
}

fn now() -> nightdesk_types::Timestamp {
    "2026-11-18T00:00:00Z".parse().unwrap()
}

/// A node that serves one page over TLS.
struct TlsNode {
    address: SocketAddr,
    served: Arc<ServedCertificate>,
    drain: CancellationToken,
    connections: TaskTracker,
}

impl TlsNode {
    async fn start(certificate: &TestCertificate) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        Self::start_on(listener, address, certificate)
    }

    fn start_on<L: Listener + Sync>(
        listener: L,
        address: SocketAddr,
        certificate: &TestCertificate,
    ) -> Self {
        let served = ServedCertificate::new(certificate.pair(), now());
        let (connections, drain) = (TaskTracker::new(), CancellationToken::new());
        let listener = TlsListener::start(listener, &served, &connections, &drain);
        let routes = Router::new().fallback(get(|| async { "welcome" }));
        connections.spawn(serve(listener, routes, connections.clone(), drain.clone()));
        Self { address, served, drain, connections }
    }

    async fn dial(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Opens a connection that trusts these certificates only.
    async fn open(&self, trusted: &[&TestCertificate]) -> io::Result<ClientStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        for certificate in trusted {
            roots
                .add(CertificateDer::from_pem_slice(certificate.chain.as_bytes()).unwrap())
                .unwrap();
        }
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(NAME).unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, self.dial().await).await
    }

    async fn stop(self) {
        self.drain.cancel();
        self.connections.close();
        self.connections.wait().await;
    }
}

/// A listener that runs out of descriptors when it is told to.
struct ScarceListener {
    listener: TcpListener,
    exhausted: Arc<Notify>,
}

impl Listener for ScarceListener {
    type Stream = TcpStream;

    async fn next(&self) -> io::Result<(TcpStream, SocketAddr)> {
        tokio::select! {
            accepted = self.listener.next() => accepted,
            () = self.exhausted.notified() => Err(io::Error::other("too many open files")),
        }
    }
}

async fn page(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> io::Result<String> {
    let request = b"GET / HTTP/1.1\r\nhost: desk\r\n\r\n";
    stream.write_all(request).await?;
    let mut text = String::new();
    let mut bytes = [0; 256];
    while !text.ends_with("welcome") {
        let count = stream.read(&mut bytes).await?;
        if count == 0 {
            break;
        }
        text.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    Ok(text)
}

#[tokio::test]
async fn a_page_is_served_over_tls() {
    let certificate = TestCertificate::issue();
    let node = TlsNode::start(&certificate).await;
    let mut stream = node.open(&[&certificate]).await.unwrap();

    assert!(page(&mut stream).await.unwrap().starts_with("HTTP/1.1 200 OK"));
    drop(stream);
    node.stop().await;
}

#[tokio::test]
async fn a_plain_request_to_a_tls_port_is_closed_without_an_answer() {
    let certificate = TestCertificate::issue();
    let node = TlsNode::start(&certificate).await;
    let mut plain = node.dial().await;
    plain.write_all(b"GET / HTTP/1.1\r\nhost: desk\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    // A reset is as good as an end.
    drop(plain.read_to_end(&mut answer).await);

    assert!(!String::from_utf8_lossy(&answer).contains("HTTP"), "{answer:?}");
    let mut stream = node.open(&[&certificate]).await.unwrap();
    assert!(page(&mut stream).await.unwrap().ends_with("welcome"), "others are served");
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_never_ends_is_cut() {
    let node = TlsNode::start(&TestCertificate::issue()).await;
    let mut stalled = node.dial().await;
    // The beginning of a client's first message.
    stalled.write_all(&[22, 3, 1]).await.unwrap();
    let begun_at = Instant::now();
    let mut answer = Vec::new();
    drop(stalled.read_to_end(&mut answer).await);

    assert!(answer.is_empty(), "{answer:?}");
    assert!(begun_at.elapsed() <= HANDSHAKE_WAIT * 2, "{:?}", begun_at.elapsed());
}

#[tokio::test]
async fn slow_handshakes_delay_no_other() {
    let certificate = TestCertificate::issue();
    let node = TlsNode::start(&certificate).await;
    let mut stalled = Vec::new();
    for _ in 0..HANDSHAKES_DONE_MAX * 2 {
        stalled.push(node.dial().await);
    }
    let begun_at = Instant::now();
    let mut stream = node.open(&[&certificate]).await.unwrap();

    assert!(page(&mut stream).await.unwrap().ends_with("welcome"));
    assert!(begun_at.elapsed() < HANDSHAKE_WAIT, "{:?}", begun_at.elapsed());
    drop(stalled);
}

#[tokio::test]
async fn an_unproven_connection_makes_room_when_descriptors_run_out() {
    /// Less than the time for which an idle connection may stay open.
    const SOON: Duration = Duration::from_secs(3);
    let certificate = TestCertificate::issue();
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let exhausted = Arc::new(Notify::new());
    let listener = ScarceListener { listener, exhausted: Arc::clone(&exhausted) };
    let node = TlsNode::start_on(listener, address, &certificate);
    let mut unproven = node.open(&[&certificate]).await.unwrap();
    assert!(page(&mut unproven).await.unwrap().ends_with("welcome"));

    exhausted.notify_one();
    let mut rest = Vec::new();
    let closed = timeout(SOON, unproven.read_to_end(&mut rest)).await;

    // It is cut without a farewell, which counts as an error.
    assert!(closed.is_ok(), "it is still open");
    let mut next = node.open(&[&certificate]).await.unwrap();
    assert!(page(&mut next).await.unwrap().ends_with("welcome"), "others are served");
}

#[tokio::test]
async fn a_new_certificate_is_for_new_connections() {
    let (old, new) = (TestCertificate::issue(), TestCertificate::issue());
    let node = TlsNode::start(&old).await;
    let mut before = node.open(&[&old]).await.unwrap();
    assert!(page(&mut before).await.unwrap().ends_with("welcome"));
    let offered = node.served.offer(Ok(new.pair()), now()).unwrap();

    assert_eq!(offered, OfferedCertificate::New);
    assert!(page(&mut before).await.unwrap().ends_with("welcome"), "an open connection stays");
    let mut after = node.open(&[&new]).await.unwrap();
    assert!(page(&mut after).await.unwrap().ends_with("welcome"));
    assert!(node.open(&[&old]).await.is_err(), "the old one is not presented any more");
    let again = node.served.offer(Ok(new.pair()), now()).unwrap();
    assert_eq!(again, OfferedCertificate::Current);
}

#[tokio::test]
async fn a_broken_new_pair_leaves_the_old_in_service() {
    let (old, new) = (TestCertificate::issue(), TestCertificate::issue());
    let node = TlsNode::start(&old).await;
    let mixed = CertificatePair::parse(new.chain.as_bytes(), old.key.as_bytes());
    let refused = node.served.offer(mixed, now());

    assert!(matches!(refused, Err(CertificateError::OtherKey)));
    let mut stream = node.open(&[&old]).await.unwrap();
    assert!(page(&mut stream).await.unwrap().ends_with("welcome"));
    let text = metrics(node.served.metrics());
    assert!(text.contains("certificate_reload_failed 1"), "{text}");
    assert!(text.contains("certificate_replaced_total 0"), "{text}");

    node.served.offer(Ok(new.pair()), now()).unwrap();
    let text = metrics(node.served.metrics());
    assert!(text.contains("certificate_reload_failed 0"), "{text}");
    assert!(text.contains("certificate_replaced_total 1"), "{text}");
}

fn metrics(metrics: &TlsMetrics) -> String {
    let mut registry = prometheus_client::registry::Registry::default();
    metrics.register(&mut registry);
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    text
}
