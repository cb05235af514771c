//! TLS settings of a dial.

use std::sync::Arc;

use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Returns the roots that browsers trust, and these. `None`: a text that is not blank contains no certificate, or
/// something else.
pub(crate) fn roots(pem: &[u8]) -> Option<RootCertStore> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let browsers = roots.len();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        roots.add(certificate.ok()?).ok()?;
    }
    (roots.len() > browsers || pem.trim_ascii().is_empty()).then_some(roots)
}

/// Returns a configuration with a fixed crypto library, independent of the rest of the program.
#[expect(clippy::expect_used, reason = "the provider and the versions are chosen here")]
pub(crate) fn config(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("aws-lc-rs can do the default versions of TLS")
        .with_root_certificates(roots)
        .with_no_client_auth()
}
