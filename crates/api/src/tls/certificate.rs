//! A certificate chain and its key, as checked before they are served.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nightdesk_types::Timestamp;
use nightdesk_types::limits::CERTIFICATE_BYTES_MAX;
use tokio_rustls::rustls;
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::sign::CertifiedKey;
use zeroize::Zeroizing;

use super::validity::{self, Validity};

/// A certificate chain and the key that belongs to it.
#[derive(Clone, Debug)]
pub struct CertificatePair {
    pub(super) key: Arc<CertifiedKey>,
    validity: Validity,
}

/// The reason that a certificate and a key cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be read.
    #[error(
        "could not read {}; check that it is there and that the desk's user may read it",
        .file.display()
    )]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The certificate file cannot be parsed.
    #[error(
        "the certificate file is not PEM; write the whole chain into it, the desk's own certificate first"
    )]
    Chain(#[source] pem::Error),
    /// The certificate file contains no certificate.
    #[error(
        "the certificate file contains no certificate; write the whole chain into it as PEM, the desk's own \
         certificate first"
    )]
    NoCertificate,
    /// The key file contains no key.
    #[error("the key file contains no private key; write the certificate's key into it as PEM")]
    Key(#[source] pem::Error),
    /// The key belongs to another certificate.
    #[error(
        "the key does not belong to the certificate; install the two that were issued together"
    )]
    OtherKey,
    /// The certificate or the key is of a kind that rustls does not support.
    #[error(
        "the certificate or its key cannot be used; issue an ECDSA, Ed25519 or RSA certificate"
    )]
    Unusable(#[source] rustls::Error),
    /// The certificate expired.
    #[error("the certificate expired at {0}; renew it")]
    Expired(Timestamp),
    /// The certificate is not valid yet.
    #[error("the certificate is valid from {0} on; check the clock, or install one that is valid")]
    NotYet(Timestamp),
}

impl CertificatePair {
    /// Reads the files of a chain and its key.
    pub fn read(chain: &Path, key: &Path) -> Result<Self, CertificateError> {
        Self::parse(&read_file(chain)?, &read_file(key)?)
    }

    /// Reads a chain and its key, both as PEM, and checks that they belong together.
    pub fn parse(chain: &[u8], key: &[u8]) -> Result<Self, CertificateError> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<_, _>>()
            .map_err(CertificateError::Chain)?;
        let own = chain.first().ok_or(CertificateError::NoCertificate)?;
        let validity = validity::read(own).ok_or_else(|| {
            CertificateError::Unusable(rustls::CertificateError::BadEncoding.into())
        })?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(CertificateError::Key)?;
        let key = CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider());
        let key = key.map_err(|error| {
            let is_other = matches!(error, rustls::Error::InconsistentKeys(_));
            if is_other { CertificateError::OtherKey } else { CertificateError::Unusable(error) }
        })?;
        Ok(Self { key: Arc::new(key), validity })
    }

    /// Checks that the certificate is valid at this time.
    pub fn check_time(&self, now: Timestamp) -> Result<(), CertificateError> {
        let Validity { not_before, not_after } = self.validity;
        if now > not_after {
            return Err(CertificateError::Expired(not_after));
        }
        if now < not_before {
            return Err(CertificateError::NotYet(not_before));
        }
        Ok(())
    }

    /// Returns true if the certificate is for this host: a name, or an address without brackets.
    pub fn is_for_host(&self, host: &str) -> bool {
        let (Some(own), Ok(name)) = (self.key.cert.first(), ServerName::try_from(host)) else {
            return false;
        };
        ParsedCertificate::try_from(own).is_ok_and(|own| verify_server_name(&own, &name).is_ok())
    }

    /// Returns the last instant at which the certificate is valid.
    pub const fn expires_at(&self) -> Timestamp {
        self.validity.not_after
    }

    /// Returns the whole days until the certificate expires. Negative if it expired.
    pub(super) fn days_left(&self, now: Timestamp) -> i64 {
        const DAY_SECONDS: i64 = 24 * 60 * 60;
        (self.validity.not_after.as_second() - now.as_second()).div_euclid(DAY_SECONDS)
    }

    pub(super) fn is_same_chain(&self, other: &Self) -> bool {
        self.key.cert == other.key.cert
    }
}

/// Reads a file. The bytes may be a key, so they are cleared from memory.
fn read_file(file: &Path) -> Result<Zeroizing<Vec<u8>>, CertificateError> {
    let mut bytes = Zeroizing::new(Vec::new());
    let read = File::open(file)
        .and_then(|opened| opened.take(CERTIFICATE_BYTES_MAX).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(bytes),
        Err(source) => Err(CertificateError::Unreadable { file: file.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    struct Issued {
        chain: String,
        key: String,
    }

    fn issued() -> Issued {
        let mut params = CertificateParams::new(["desk.test".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2026, 1, 1);
        params.not_after = date_time_ymd(2026, 4, 1);
        let key = KeyPair::generate().unwrap();
        let chain = params.self_signed(&key).unwrap().pem();
        Issued { chain, key: key.serialize_pem() }
    }

    fn parsed(chain: &str, key: &str) -> Result<CertificatePair, CertificateError> {
        CertificatePair::parse(chain.as_bytes(), key.as_bytes())
    }

    #[test]
    fn a_pair_that_cannot_be_served_is_refused_with_its_reason() {
        let (one, other) = (issued(), issued());
        let cut = &one.chain[..one.chain.len() / 2];

        assert!(parsed(&one.chain, &one.key).is_ok());
        assert!(matches!(parsed(&one.chain, &other.key), Err(CertificateError::OtherKey)));
        assert!(matches!(parsed("", &one.key), Err(CertificateError::NoCertificate)));
        assert!(matches!(parsed(&one.key, &one.key), Err(CertificateError::NoCertificate)));
        assert!(matches!(parsed(cut, &one.key), Err(CertificateError::Chain(_))));
        assert!(matches!(parsed(&one.chain, ""), Err(CertificateError::Key(_))));
        assert!(matches!(parsed(&one.chain, &one.chain), Err(CertificateError::Key(_))));
    }

    #[test]
    fn a_certificate_is_for_the_hosts_that_it_names() {
        let names = ["desk.test", "*.desks.test", "192.0.2.1", "2001:db8::1"];
        let params = CertificateParams::new(names.map(str::to_owned)).unwrap();
        let key = KeyPair::generate().unwrap();
        let chain = params.self_signed(&key).unwrap().pem();
        let pair = parsed(&chain, &key.serialize_pem()).unwrap();

        for own in ["desk.test", "DESK.test", "one.desks.test", "192.0.2.1", "2001:db8::1"] {
            assert!(pair.is_for_host(own), "{own}");
        }
        for other in ["other.test", "desks.test", "a.b.desks.test", "192.0.2.2", "[::1]", ""] {
            assert!(!pair.is_for_host(other), "{other}");
        }
    }

    #[test]
    fn a_certificate_has_its_time() {
        let one = issued();
        let pair = parsed(&one.chain, &one.key).unwrap();
        let at = |text: &str| text.parse::<Timestamp>().unwrap();

        assert!(pair.check_time(at("2026-02-01T00:00:00Z")).is_ok());
        let late = pair.check_time(at("2026-04-01T00:00:01Z"));
        assert!(matches!(late, Err(CertificateError::Expired(_))));
        let early = pair.check_time(at("2025-12-31T23:59:59Z"));
        assert!(matches!(early, Err(CertificateError::NotYet(_))));
        assert_eq!(pair.days_left(at("2026-03-01T00:00:00Z")), 31);
        assert_eq!(pair.days_left(at("2026-03-31T00:00:01Z")), 0);
        assert_eq!(pair.days_left(at("2026-04-01T00:00:01Z")), -1);
    }
}
