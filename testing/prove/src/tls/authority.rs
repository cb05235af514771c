//! An authority that issues the desk's certificates, and the clients that trust it.

use std::sync::Arc;

use anyhow::{Context, Result};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The host of every certificate.
pub(super) const HOST: &str = "127.0.0.1";

/// A certificate authority.
pub struct TestAuthority {
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
    /// Its own certificate, as PEM.
    pub root_pem: String,
}

impl std::fmt::Debug for TestAuthority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TestAuthority")
    }
}

/// A certificate of the desk, with its key.
#[derive(Debug)]
pub struct IssuedCertificate {
    /// The certificate as PEM.
    pub chain: String,
    /// Its key as PEM.
    pub key: String,
    /// The certificate as it is presented in a handshake.
    pub presented: CertificateDer<'static>,
}

impl TestAuthority {
    /// Creates an authority.
    pub fn new() -> Result<Self> {
        let key = KeyPair::generate().context("could not make a key")?;
        let mut params = CertificateParams::new([]).context("could not name the authority")?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).context("could not sign the authority")?;
        let issuer = Issuer::new(params, key);
        Ok(Self { issuer, root: root.der().clone(), root_pem: root.pem() })
    }

    /// Issues a certificate with a new key.
    pub fn issue(&self) -> Result<IssuedCertificate> {
        let key = KeyPair::generate().context("could not make a key")?;
        let params = CertificateParams::new([HOST.to_owned()]).context("could not name a host")?;
        let issued =
            params.signed_by(&key, &self.issuer).context("could not sign a certificate")?;
        let (chain, presented) = (issued.pem(), issued.der().clone());
        Ok(IssuedCertificate { chain, key: key.serialize_pem(), presented })
    }

    /// Returns a client that trusts this authority alone and performs every handshake in full.
    pub fn connector(&self) -> Result<TlsConnector> {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).context("could not trust the authority")?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .context("could not choose versions of TLS")?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        Ok(TlsConnector::from(Arc::new(config)))
    }
}
