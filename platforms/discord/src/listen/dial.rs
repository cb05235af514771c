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

use super::socket::{GatewaySocket, GatewayTransport, socket_limits};

/// Time limit to open a socket.
const DIAL_WAIT: Duration = Duration::from_secs(10);

/// API version and encoding.
const DIALECT: &str = "/?v=10&encoding=json";

/// Opens sockets to Discord.
pub(crate) struct GatewayDialler {
    main: String,
    tls: Arc<ClientConfig>,
}

impl GatewayDialler {
    /// Creates a dialler of this address. `None` if it is not a WebSocket URL.
    pub(crate) fn new(main: &str) -> Option<Self> {
        let is_socket = main.starts_with("wss://") || main.starts_with("ws://");
        let is_one = is_socket && main.parse::<Uri>().is_ok_and(|uri| uri.host().is_some());
        is_one.then(|| Self { main: main.to_owned(), tls: Arc::new(config()) })
    }

    pub(super) fn main_url(&self) -> &str {
        &self.main
    }

    /// Dials once.
    pub(super) async fn dial(&self, url: &str) -> io::Result<GatewaySocket> {
        timeout(DIAL_WAIT, self.connect(url)).await.map_err(io::Error::other)?
    }

    async fn connect(&self, url: &str) -> io::Result<GatewaySocket> {
        let url = format!("{}{DIALECT}", url.trim_end_matches('/'));
        let uri: Uri = url.parse().map_err(io::Error::other)?;
        let stream = self.connection(&uri).await?;
        let asked = client_async_with_config(uri, stream, Some(socket_limits())).await;
        Ok(GatewaySocket::new(asked.map_err(io::Error::other)?.0))
    }

    async fn connection(&self, url: &Uri) -> io::Result<Box<dyn GatewayTransport>> {
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
