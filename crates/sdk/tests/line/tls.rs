//! Lines over TLS, to a desk behind a proxy with a certificate of a private authority.

use std::sync::Arc;

use nightdesk_sdk::{Agent, Event, SendError, Settings, Status, Trouble};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::wire::Street;

/// A TLS proxy in front of a desk.
struct Proxy {
    port: u16,
    certificate: String,
    _served: JoinSet<()>,
}

impl Proxy {
    async fn before(street: &Street) -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .expect("a certificate with its key");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let port = listener.local_addr().expect("a bound port").port();
        let (acceptor, desk) = (TlsAcceptor::from(Arc::new(config)), street.wire.address);
        let mut served = JoinSet::new();
        served.spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let Ok(mut near) = acceptor.accept(near).await else { continue };
                let mut far = TcpStream::connect(desk).await.expect("the desk listens");
                drop(copy_bidirectional(&mut near, &mut far).await);
            }
        });
        Self { port, certificate: cert.pem(), _served: served }
    }

    fn settings(&self, street: &Street) -> Settings {
        let secret = street.ann.secret.with(str::to_owned);
        let url = format!("https://localhost:{}", self.port);
        Settings::new(url, &street.ann.name, secret).speaking_for("discord", "bot-ann")
    }
}

async fn echo(event: Event) -> Result<(), SendError> {
    if let Event::Message(message) = event {
        message.reply(message.text()).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_line_goes_over_tls_to_who_is_trusted() {
    let mut street = Street::open().await;
    let proxy = Proxy::before(&street).await;
    let settings = proxy.settings(&street).trusting(&proxy.certificate);
    let agent = Agent::connect(settings, echo).expect("good settings");
    agent.handshake().await.expect("a line");

    street.says("over TLS").await;
    assert_eq!(street.answer().await, "over TLS");
    agent.disconnect().await;
}

#[tokio::test]
async fn nothing_is_said_to_who_is_not_trusted() {
    let street = Street::open().await;
    let proxy = Proxy::before(&street).await;
    let agent = Agent::connect(proxy.settings(&street), echo).expect("good settings");

    let status = agent.wait_until(|status| matches!(status, Status::Resting { .. })).await;
    let Status::Resting { why: Trouble::Unreachable(why), .. } = status else {
        panic!("{status:?}");
    };
    assert!(why.contains("certificate"), "{why}");
}
