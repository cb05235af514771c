//! A host on loopback that presents a certificate, reads one request, and then follows a script.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rcgen::{CertificateParams, Issuer, KeyPair};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The host's behaviour after a request.
#[derive(Clone)]
pub(crate) enum Script {
    /// Sends this and hangs up.
    Say(Vec<u8>),
    /// Sends this, and then one byte a second.
    Drip(&'static str),
    /// Sends this, and then as much as can be written.
    Flood(&'static str),
    /// Sends nothing.
    Hang,
    /// Does not even perform the handshake.
    HangBeforeTls,
}

/// The host's certificate and key.
pub(crate) struct Certificate {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Certificate {
    /// Creates one that this issuer signed.
    pub(crate) fn issued(params: &CertificateParams, issuer: &Issuer<'static, KeyPair>) -> Self {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, issuer).expect("a certificate");
        Self::new(certificate.der().clone(), &key)
    }

    /// Creates a self-signed one.
    pub(crate) fn self_signed(params: &CertificateParams) -> Self {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        Self::new(certificate.der().clone(), &key)
    }

    fn new(certificate: CertificateDer<'static>, key: &KeyPair) -> Self {
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        Self { chain: vec![certificate], key }
    }
}

/// A host that serves until it is dropped.
pub(crate) struct Host {
    pub(crate) port: u16,
    heard: Arc<Mutex<Vec<String>>>,
    accepted: Arc<AtomicUsize>,
    said_bytes: Arc<AtomicUsize>,
    _serving: JoinSet<()>,
}

impl Host {
    /// Serves over TLS.
    pub(crate) async fn secured(certificate: Certificate, script: Script) -> Self {
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(certificate.chain, certificate.key)
            .expect("a certificate with its key");
        Self::serving(Some(TlsAcceptor::from(Arc::new(config))), script).await
    }

    /// Serves without TLS.
    pub(crate) async fn plain(script: Script) -> Self {
        Self::serving(None, script).await
    }

    async fn serving(acceptor: Option<TlsAcceptor>, script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("a bound port").port();
        let guest = Guest { script, heard: Arc::default(), said_bytes: Arc::default() };
        let accepted = Arc::new(AtomicUsize::new(0));
        let (heard, said_bytes) = (Arc::clone(&guest.heard), Arc::clone(&guest.said_bytes));
        let counted = Arc::clone(&accepted);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut guests = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                guests.spawn(guest.clone().greet(acceptor.clone(), stream));
            }
        });
        Self { port, heard, accepted, said_bytes, _serving: serving }
    }

    /// Returns the received requests, head and body.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("nobody panicked").clone()
    }

    /// Returns the number of connections.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Returns the number of bytes that a flood could write.
    pub(crate) fn said_bytes(&self) -> usize {
        self.said_bytes.load(Ordering::SeqCst)
    }
}

#[derive(Clone)]
struct Guest {
    script: Script,
    heard: Arc<Mutex<Vec<String>>>,
    said_bytes: Arc<AtomicUsize>,
}

impl Guest {
    async fn greet(self, acceptor: Option<TlsAcceptor>, stream: TcpStream) {
        if matches!(self.script, Script::HangBeforeTls) {
            pending::<()>().await;
        }
        let Some(acceptor) = acceptor else {
            return self.serve(stream).await;
        };
        if let Ok(stream) = acceptor.accept(stream).await {
            self.serve(stream).await;
        }
    }

    async fn serve(self, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        let request = hear(&mut stream).await;
        self.heard.lock().expect("nobody panicked").push(request);
        match self.script {
            Script::Say(text) => {
                drop(stream.write_all(&text).await);
                drop(stream.shutdown().await);
            }
            Script::Drip(head) => drip(stream, head).await,
            Script::Flood(head) => flood(stream, head, &self.said_bytes).await,
            Script::Hang | Script::HangBeforeTls => pending().await,
        }
    }
}

async fn hear(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut request = Vec::new();
    while !is_whole(&request) {
        let Ok(1..) = stream.read_buf(&mut request).await else { break };
    }
    String::from_utf8(request).expect("a request is text")
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.is_none_or(|length| length.parse() == Ok(body.len()))
}

async fn drip(mut stream: impl AsyncWrite + Unpin, head: &str) {
    drop(stream.write_all(head.as_bytes()).await);
    let mut every = tokio::time::interval(Duration::from_secs(1));
    while stream.write_all(b"x").await.is_ok() && stream.flush().await.is_ok() {
        every.tick().await;
    }
}

async fn flood(mut stream: impl AsyncWrite + Unpin, head: &str, said_bytes: &AtomicUsize) {
    drop(stream.write_all(head.as_bytes()).await);
    while stream.write_all(&[b'x'; 4096]).await.is_ok() {
        said_bytes.fetch_add(4096, Ordering::SeqCst);
    }
}
