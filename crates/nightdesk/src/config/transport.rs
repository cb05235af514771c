//! Encryption of the public address and of the connections to other servers.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use nightdesk_api::TrustedProxies;
use serde::Deserialize;

use super::{ListenSection, RedisSection};

/// TLS of the public address. Since 0.2.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "listen.tls must be \"in-front\" or { certificate = \"desk.pem\", key = \"desk.key\" }"
)]
pub(crate) enum TlsSetting {
    /// The desk serves plain HTTP, and a proxy in front of it terminates TLS.
    Declared(TlsDeclaration),
    /// The desk serves TLS.
    Files(TlsFiles),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TlsDeclaration {
    InFront,
}

/// The files of a certificate that the desk serves. It rereads them every few seconds and on SIGHUP.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TlsFiles {
    /// The certificate chain as PEM, the desk's own certificate first.
    pub(crate) certificate: PathBuf,
    /// The key of the certificate as PEM.
    pub(crate) key: PathBuf,
}

impl ListenSection {
    /// Returns the section of a plain address without proxies.
    pub(super) const fn on(address: SocketAddr) -> Self {
        Self { address, tls: None, trusted_proxies: Vec::new(), public_url: None }
    }

    /// Returns the trusted proxies.
    pub(crate) fn proxies(&self) -> anyhow::Result<TrustedProxies> {
        TrustedProxies::parse(&self.trusted_proxies).context("listen.trusted_proxies")
    }

    /// Returns the certificate files, if the desk serves TLS itself.
    pub(crate) const fn tls_files(&self) -> Option<&TlsFiles> {
        match &self.tls {
            Some(TlsSetting::Files(files)) => Some(files),
            Some(TlsSetting::Declared(TlsDeclaration::InFront)) | None => None,
        }
    }
}

/// Refuses a public address that other machines reach without TLS, unless TLS is declared to be in front of it.
pub(super) fn check_listener(listen: &ListenSection, public_url: &str) -> anyhow::Result<()> {
    let address = listen.address;
    if listen.tls.is_some() {
        ensure!(
            public_url.starts_with("https://"),
            "listen.tls is set, but the public URL is {public_url}; set listen.public_url to the https:// URL of the desk"
        );
        return Ok(());
    }
    if address.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    bail!(
        "listen.address {address} is not loopback, so other machines would reach it without TLS; \
         set listen.tls = {{ certificate = \"desk.pem\", key = \"desk.key\" }}, or listen.tls = \"in-front\" if a \
         proxy in front of the desk terminates TLS, or listen on 127.0.0.1"
    )
}

/// Refuses a Redis on another machine that is reached without TLS, unless that is declared.
pub(super) fn check_redis(redis: &RedisSection) -> anyhow::Result<()> {
    let RedisSection { url, plaintext, .. } = redis;
    ensure!(
        *plaintext || !nightdesk_bus_redis::is_remote_plaintext(url),
        "redis.url {url} leads to another machine without TLS; write it as rediss://, or set redis.plaintext = true \
         if only the machines of this desk use that network"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener(address: &str, tls: Option<TlsSetting>) -> ListenSection {
        ListenSection { tls, ..ListenSection::on(address.parse().unwrap()) }
    }

    fn files() -> TlsSetting {
        TlsSetting::Files(TlsFiles { certificate: "desk.pem".into(), key: "desk.key".into() })
    }

    const IN_FRONT: TlsSetting = TlsSetting::Declared(TlsDeclaration::InFront);
    const HTTPS: &str = "https://desk.example.org";

    #[test]
    fn a_plain_listener_is_on_loopback_or_refused() {
        for good in ["127.0.0.1:8800", "127.1.2.3:8800", "[::1]:8800", "[::ffff:127.0.0.1]:8800"] {
            assert!(check_listener(&listener(good, None), HTTPS).is_ok(), "{good}");
        }
        for bad in ["0.0.0.0:8800", "[::]:8800", "192.0.2.1:8800", "[2001:db8::1]:8800"] {
            let why = check_listener(&listener(bad, None), HTTPS).expect_err(bad).to_string();
            assert!(why.contains("listen.tls = \"in-front\""), "{bad}: {why}");
            assert!(check_listener(&listener(bad, Some(files())), HTTPS).is_ok(), "{bad}");
            assert!(check_listener(&listener(bad, Some(IN_FRONT)), HTTPS).is_ok(), "{bad}");
        }
    }

    #[test]
    fn a_desk_with_tls_has_a_public_url_with_tls() {
        for tls in [files(), IN_FRONT] {
            let listen = listener("0.0.0.0:8800", Some(tls));
            let why = check_listener(&listen, "http://desk.example.org").unwrap_err().to_string();
            assert!(why.contains("listen.public_url"), "{why}");
        }
    }

    #[test]
    fn a_plain_redis_is_on_loopback_or_declared() {
        let redis = |url: &str, plaintext| RedisSection {
            url: url.to_owned(),
            password_file: None,
            plaintext,
        };

        for good in ["redis://127.0.0.1:6379", "rediss://redis.internal:6379"] {
            assert!(check_redis(&redis(good, false)).is_ok(), "{good}");
        }
        let why = check_redis(&redis("redis://redis.internal:6379", false)).unwrap_err();
        assert!(why.to_string().contains("rediss://"), "{why}");
        assert!(check_redis(&redis("redis://redis.internal:6379", true)).is_ok());
    }

    #[test]
    fn tls_is_declared_by_a_word_or_by_two_files() {
        let read = |text: &str| {
            let source = config::File::from_str(text, config::FileFormat::Toml);
            let built = config::Config::builder().add_source(source).build().unwrap();
            built.try_deserialize::<ListenSection>()
        };
        let with = |tls: &str| read(&format!("address = \"127.0.0.1:8800\"\ntls = {tls}"));

        assert!(matches!(with("\"in-front\"").unwrap().tls, Some(TlsSetting::Declared(_))));
        let both = with("{ certificate = \"a.pem\", key = \"a.key\" }").unwrap();
        assert!(both.tls_files().is_some());
        for wrong in ["\"off\"", "true", "{ certificate = \"a.pem\" }"] {
            let why = with(wrong).expect_err(wrong).to_string();
            assert!(why.contains("listen.tls must be"), "{wrong}: {why}");
        }
    }
}
