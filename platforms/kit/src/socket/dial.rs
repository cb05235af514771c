//! Opens a WebSocket to an address.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_tungstenite::client_async_with_config;

use super::{PlatformSocket, SocketTransport, socket_limits};

/// Time limit to open a socket.
const DIAL_WAIT: Duration = Duration::from_secs(10);

/// Returns true if an address is the URL of a WebSocket.
pub fn is_socket_url(url: &str) -> bool {
    let is_socket = url.starts_with("wss://") || url.starts_with("ws://");
    is_socket && url.parse::<Uri>().is_ok_and(|uri| uri.host().is_some())
}

/// Opens sockets to platforms.
#[derive(Clone)]
pub struct SocketDialler {
    tls: Arc<ClientConfig>,
}

nightdesk_types::opaque_debug!(SocketDialler);

impl Default for SocketDialler {
    fn default() -> Self {
        Self { tls: Arc::new(config()) }
    }
}

impl SocketDialler {
    /// Dials once.
    pub async fn dial(&self, url: &str) -> io::Result<PlatformSocket> {
        timeout(DIAL_WAIT, self.connect(url)).await.map_err(io::Error::other)?
    }

    async fn connect(&self, url: &str) -> io::Result<PlatformSocket> {
        let uri: Uri = url.parse().map_err(io::Error::other)?;
        let stream = self.connection(&uri).await?;
        let asked = client_async_with_config(uri, stream, Some(socket_limits())).await;
        Ok(PlatformSocket::new(asked.map_err(io::Error::other)?.0))
    }

    async fn connection(&self, url: &Uri) -> io::Result<Box<dyn SocketTransport>> {
        // The host of an address such as `[::1]` has brackets, which a resolver does not accept.
        let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
        let secure = url.scheme_str() == Some("wss");
        let port = url.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        if !secure {
            return Ok(Box::new(stream));
        }
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let tls = TlsConnector::from(Arc::clone(&self.tls));
        Ok(Box::new(tls.connect(name, stream).await?))
    }
}

/// Selects one crypto library, independent of other features of the build.
#[expect(clippy::expect_used, reason = "the provider and the versions are chosen here")]
fn config() -> ClientConfig {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("aws-lc-rs can do the default versions of TLS")
        .with_root_certificates(roots)
        .with_no_client_auth()
}
