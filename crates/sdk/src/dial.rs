//! Opens a line from an address and a secret.

use std::io;
use std::sync::Arc;

use nightdesk_protocol::Secret;
use nightdesk_protocol::upgrade_token::{self, UPGRADE_TTL_SECS};
use nightdesk_types::{Clock, SystemClock};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_tungstenite::tungstenite::http::Uri;

use crate::limits::DIAL_WAIT;
use crate::socket::{AgentSocket, Connection};
use crate::status::Trouble;
use crate::{tls, upgrade};

/// The data of a dial, constant except for the token.
pub(crate) struct LineDialler {
    url: Uri,
    gateway: String,
    secret: Secret,
    clock: SystemClock,
    tls: Arc<ClientConfig>,
}

impl LineDialler {
    pub(crate) fn new(url: Uri, gateway: String, secret: Secret, roots: RootCertStore) -> Self {
        let (clock, tls) = (SystemClock::start(), Arc::new(tls::config(roots)));
        Self { url, gateway, secret, clock, tls }
    }

    /// Dials once.
    pub(crate) async fn dial(&self) -> Result<AgentSocket, Trouble> {
        let late = |_| Trouble::Unreachable(format!("no response within {DIAL_WAIT:?}"));
        timeout(DIAL_WAIT, self.connect()).await.map_err(late)?
    }

    async fn connect(&self) -> Result<AgentSocket, Trouble> {
        let connected = self.connection().await;
        let connection = connected.map_err(|error| Trouble::Unreachable(error.to_string()))?;
        upgrade::request_upgrade(connection, &self.url, &self.token()).await
    }

    async fn connection(&self) -> io::Result<Box<dyn Connection>> {
        // The host of an address like `[::1]` has brackets, which no resolver accepts.
        let host = self.url.host().unwrap_or_default().trim_matches(['[', ']']);
        let secure = self.url.scheme_str() == Some("wss");
        let port = self.url.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let stream = TcpStream::connect((host, port)).await?;
        // Frames are small and latency matters.
        stream.set_nodelay(true)?;
        if !secure {
            return Ok(Box::new(stream));
        }
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let tls = TlsConnector::from(Arc::clone(&self.tls));
        Ok(Box::new(tls.connect(name, stream).await?))
    }

    /// Returns a new token. A token is valid for minutes, so every dial has its own.
    fn token(&self) -> Secret {
        let secret = self.secret.expose().as_bytes();
        upgrade_token::make(&self.gateway, secret, UPGRADE_TTL_SECS, self.clock.now())
    }
}
