//! TLS: the trusted roots of a call.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};

use crate::call::CallError;
use crate::host::Host;
use crate::refusal::UrlRefusal;

/// Returns the roots that browsers trust, and those of the operator's file.
pub(crate) fn roots(file: Option<&Path>) -> Result<RootCertStore, pem::Error> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let Some(file) = file else {
        return Ok(roots);
    };
    let certificates: Vec<_> = CertificateDer::pem_file_iter(file)?.collect::<Result<_, _>>()?;
    let (added, _) = roots.add_parsable_certificates(certificates);
    if added == 0 { Err(pem::Error::NoItemsFound) } else { Ok(roots) }
}

/// Returns a connector with a fixed crypto library, independent of the rest of the program.
#[expect(clippy::expect_used, reason = "the provider and the versions are chosen here")]
pub(crate) fn connector(roots: RootCertStore) -> TlsConnector {
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("aws-lc-rs can do the default versions of TLS")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // Calls of two tenants to one host must not share a session.
    config.resumption = Resumption::disabled();
    TlsConnector::from(Arc::new(config))
}

/// Performs the handshake with the host in the URL, at any address.
pub(crate) async fn shake_hands(
    connector: &TlsConnector,
    host: &Host,
    stream: TcpStream,
) -> Result<TlsStream<TcpStream>, CallError> {
    let name = match host {
        Host::Literal(address) => ServerName::from(*address),
        Host::Name(name) => {
            ServerName::try_from(name.clone()).map_err(|_| UrlRefusal::NotAFullName)?
        }
    };
    connector.connect(name, stream).await.map_err(handshake_error)
}

fn handshake_error(error: io::Error) -> CallError {
    match error.downcast::<rustls::Error>() {
        Ok(error) => CallError::Tls(error.into()),
        Err(error) => CallError::unreachable(error),
    }
}
