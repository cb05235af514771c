//! Runs a desk with TLS, whose certificate files an operator replaces.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};

use super::authority::{HOST, IssuedCertificate, TestAuthority};
use crate::cluster::Cluster;
use crate::desk::{Desk, free_address};
use crate::procfs::signal;
use crate::setup::{Cast, Size};
use crate::stage::{DATABASE, seeded};

/// Time limit for a new certificate to be served: two periodic looks, and a slow machine.
const SERVED_WITHIN: Duration = Duration::from_secs(20);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// All parts of the proof.
#[derive(Debug)]
pub struct TlsWorld {
    /// The desk.
    pub desk: Desk,
    /// The tenants and agents.
    pub cast: Cast,
    /// The authority of its certificates.
    pub authority: TestAuthority,
    metrics: SocketAddr,
    certificate: PathBuf,
    key: PathBuf,
    _cluster: Cluster,
}

impl TlsWorld {
    /// Creates this many agents, issues the first certificate and starts the desk.
    pub fn set(binary: &Path, agents: usize) -> Result<Self> {
        let (cluster, authority) = (Cluster::start()?, TestAuthority::new()?);
        let (settings, cast) = seeded(binary, &cluster, DATABASE, &Size::of(2, agents))?;
        let metrics = free_address()?;
        let more = format!("[metrics]\naddress = \"{metrics}\"\n");
        let settings = settings.node("desk-1", cluster.folder(), &more)?;
        let certificate = cluster.folder().join("desk.pem");
        let key = cluster.folder().join("desk-tls.key");
        let first = authority.issue()?;
        replace(&certificate, &first.chain)?;
        replace(&key, &first.key)?;
        let desk = settings.start_with(&[
            ("NIGHTDESK__LISTEN__TLS__CERTIFICATE", certificate.display().to_string()),
            ("NIGHTDESK__LISTEN__TLS__KEY", key.display().to_string()),
        ])?;
        Ok(Self { desk, cast, authority, metrics, certificate, key, _cluster: cluster })
    }

    /// Installs both files of a certificate.
    pub fn install(&self, issued: &IssuedCertificate) -> Result<()> {
        replace(&self.certificate, &issued.chain)?;
        replace(&self.key, &issued.key)
    }

    /// Installs a certificate without its key, as a renewal that was interrupted does.
    pub fn install_half(&self, issued: &IssuedCertificate) -> Result<()> {
        replace(&self.certificate, &issued.chain)
    }

    /// Tells the desk that the files changed.
    pub fn hang_up(&self) -> Result<()> {
        signal("HUP", &[self.desk.pid()])
    }

    /// Waits until the desk presents this certificate.
    pub async fn wait_until_presented(&self, issued: &IssuedCertificate) -> Result<()> {
        let deadline = Instant::now() + SERVED_WITHIN;
        while self.presented().await? != issued.presented {
            ensure!(Instant::now() < deadline, "a new certificate is not served; {}", self.log());
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Waits until the metrics contain this line.
    pub async fn wait_until_counted(&self, line: &str) -> Result<()> {
        let deadline = Instant::now() + SERVED_WITHIN;
        while !self.metrics().await?.lines().any(|counted| counted == line) {
            ensure!(Instant::now() < deadline, "the metrics lack `{line}`; {}", self.log());
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Returns the certificate that the desk presents now.
    pub async fn presented(&self) -> Result<CertificateDer<'static>> {
        let stream = connect(self.desk.address(), &self.authority.connector()?).await?;
        let (_, session) = stream.get_ref();
        let chain = session.peer_certificates().context("the desk presents no certificate")?;
        Ok(chain.first().context("the chain is empty")?.clone().into_owned())
    }

    async fn metrics(&self) -> Result<String> {
        let mut stream = TcpStream::connect(self.metrics).await.context("no metrics")?;
        let request = b"GET /metrics HTTP/1.1\r\nhost: desk\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await.context("could not request the metrics")?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await.context("could not read the metrics")?;
        Ok(text)
    }

    fn log(&self) -> String {
        format!("the desk's log ends:\n{}", self.desk.log_tail())
    }
}

/// Connects over TLS.
pub(super) async fn connect(
    desk: SocketAddr,
    connector: &TlsConnector,
) -> Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(desk).await.context("could not connect")?;
    stream.set_nodelay(true).context("could not send at once")?;
    let host = ServerName::try_from(HOST).context("the host has no name")?;
    connector.connect(host, stream).await.context("the handshake failed")
}

/// Replaces a file at once: a reader sees the old text or the new one.
fn replace(file: &Path, text: &str) -> Result<()> {
    let next = file.with_extension("next");
    fs::write(&next, text).context("could not write a file")?;
    fs::rename(&next, file).context("could not replace a file")
}
