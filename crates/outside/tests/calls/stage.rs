//! A client, a name server, an issuer of certificates, and hosts.

use std::net::IpAddr;
use std::num::NonZeroU32;

use nightdesk_outside::{
    CallError, CallResponse, HostRate, Method, Outside, OutsideCall, Rules, TenantUrl,
};
use nightdesk_types::TenantId;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tempfile::NamedTempFile;
use uuid::Uuid;

use crate::host::{Certificate, Host, Script};
use crate::name_server::{Answer, NameServer};

/// The name of every host here, unless a test sets another.
pub(crate) const NAME: &str = "agents.test";
pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
pub(crate) const TENANT: TenantId = TenantId::from_uuid(Uuid::from_u128(1));

/// A certificate authority that the client trusts.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: NamedTempFile,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new([]).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).expect("a certificate");
        let file = NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), root.pem()).expect("is writable");
        Self { issuer: Issuer::new(params, key), file }
    }

    pub(crate) fn issue(&self, params: &CertificateParams) -> Certificate {
        Certificate::issued(params, &self.issuer)
    }

    /// Returns rules that trust it, use this name server, and allow loopback and these ports.
    pub(crate) fn rules(&self, names: &NameServer, ports: &[u16]) -> Rules {
        Rules {
            ranges: vec!["127.0.0.0/8".parse().expect("a range")],
            ports: ports.to_vec(),
            root_certificate_file: Some(self.file.path().to_owned()),
            nameserver: Some(names.address),
            ..Rules::default()
        }
    }
}

pub(crate) fn named(name: &str) -> CertificateParams {
    CertificateParams::new([name.to_owned()]).expect("a name")
}

/// One trusted host, and a client without a rate limit for it.
pub(crate) struct Stage {
    pub(crate) host: Host,
    pub(crate) outside: Outside,
    _names: NameServer,
    _authority: Authority,
}

impl Stage {
    pub(crate) async fn with(script: Script) -> Self {
        let authority = Authority::new();
        let host = Host::secured(authority.issue(&named(NAME)), script).await;
        let names = NameServer::answering(|_, _| Answer::Addresses(vec![LOOPBACK])).await;
        let mut rules = authority.rules(&names, &[host.port]);
        rules.rates.insert(NAME.to_owned(), often());
        let outside = Outside::new(rules).expect("good rules");
        Self { host, outside, _names: names, _authority: authority }
    }

    pub(crate) fn url(&self, path: &str) -> TenantUrl {
        let text = format!("https://{NAME}:{}{path}", self.host.port);
        TenantUrl::parse(&text, self.outside.rules()).expect("may be called")
    }

    pub(crate) async fn get(&self) -> Result<CallResponse, CallError> {
        get(&self.outside, &self.url("/wake")).await
    }
}

pub(crate) fn often() -> HostRate {
    let often = NonZeroU32::new(1_000).expect("is not zero");
    HostRate { per_second: often, at_once: often }
}

pub(crate) async fn get(outside: &Outside, url: &TenantUrl) -> Result<CallResponse, CallError> {
    get_for(TENANT, outside, url).await
}

pub(crate) async fn get_for(
    tenant: TenantId,
    outside: &Outside,
    url: &TenantUrl,
) -> Result<CallResponse, CallError> {
    let call = OutsideCall { url, method: Method::Get, bearer: None, signature: None, body: None };
    outside.call(tenant, call).await
}
