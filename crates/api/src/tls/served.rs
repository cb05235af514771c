//! The certificate that new handshakes present.

use std::sync::{Arc, PoisonError, RwLock};

use nightdesk_types::Timestamp;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

use super::{CertificateError, CertificatePair, TlsMetrics};

/// The served certificate. [`offer`](Self::offer) replaces it while the desk serves.
#[derive(Debug)]
pub struct ServedCertificate {
    current: RwLock<CertificatePair>,
    metrics: TlsMetrics,
}

/// The result of an offer that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferedCertificate {
    /// The pair is served already.
    Current,
    /// New handshakes present the pair.
    New,
}

impl ServedCertificate {
    /// Serves a pair. An expired one is served too, because the rest of the node works without its clients.
    pub fn new(pair: CertificatePair, now: Timestamp) -> Arc<Self> {
        let metrics = TlsMetrics::default();
        metrics.set_days_left(pair.days_left(now));
        Arc::new(Self { current: RwLock::new(pair), metrics })
    }

    /// Replaces the served pair by one that was just read. If the pair cannot be read or is not valid now, the served
    /// one stays, and the metrics say so.
    pub fn offer(
        &self,
        offered: Result<CertificatePair, CertificateError>,
        now: Timestamp,
    ) -> Result<OfferedCertificate, CertificateError> {
        let result = offered.and_then(|pair| {
            pair.check_time(now)?;
            Ok(self.replace(pair))
        });
        match &result {
            Ok(_) => self.metrics.clear_reload_failure(),
            Err(_) => self.metrics.raise_reload_failure(),
        }
        self.metrics.set_days_left(self.current().days_left(now));
        result
    }

    /// Returns the served pair.
    pub fn current(&self) -> CertificatePair {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the metrics.
    pub const fn metrics(&self) -> &TlsMetrics {
        &self.metrics
    }

    fn replace(&self, pair: CertificatePair) -> OfferedCertificate {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.is_same_chain(&pair) {
            return OfferedCertificate::Current;
        }
        *current = pair;
        self.metrics.count_replaced();
        OfferedCertificate::New
    }

    /// Returns an acceptor of HTTP/1.1 over TLS, with a fixed crypto library.
    #[expect(clippy::expect_used, reason = "the provider and the versions are chosen here")]
    pub(super) fn acceptor(self: &Arc<Self>) -> TlsAcceptor {
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()
                .expect("aws-lc-rs can do the default versions of TLS")
                .with_no_client_auth()
                .with_cert_resolver(Arc::<Self>::clone(self));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }
}

impl ResolvesServerCert for ServedCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner).key))
    }
}
