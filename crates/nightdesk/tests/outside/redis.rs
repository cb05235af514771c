//! Two nodes with Redis between them, while it is up and while it is down.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nightdesk_sdk::{Agent, Settings};
use nightdesk_servers::Redis;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::desk::{Desk, free_port, get, wait_until};
use crate::docs::{README, blocks, entered_on};
use crate::webchat::{opened, written};

/// The delay that a broken bell may add, and the delay of a busy machine.
const ADDED: Duration = Duration::from_millis(2_500);
const SLACK: Duration = Duration::from_secs(1);

/// A Redis that accepts only TLS, with a certificate in this folder.
struct TlsRedis(Child);

impl TlsRedis {
    fn start(folder: &Path, port: u16) -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a key");
        std::fs::write(folder.join("cert.pem"), made.cert.pem()).expect("write it");
        std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).expect("write it");
        let port = port.to_string();
        let redis = Command::new("redis-server")
            .args(["--port", "0", "--tls-port", &port, "--bind", "127.0.0.1", "--save", ""])
            .args(["--tls-cert-file", "cert.pem", "--tls-key-file", "key.pem"])
            .args(["--tls-ca-cert-file", "cert.pem", "--tls-auth-clients", "no"])
            .args(["--requirepass", "s3cret"])
            .current_dir(folder)
            .stdout(Stdio::null())
            .spawn();
        Self(redis.expect("Redis runs"))
    }
}

impl Drop for TlsRedis {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Returns true if the node at this metrics port reports this line.
fn counts(metrics: u16, number: &str) -> bool {
    get(metrics, "/metrics").lines().any(|line| line == number)
}

#[test]
fn what_comes_to_one_node_reaches_a_line_on_another_with_redis_and_without() {
    let (mut redis, metrics) = (Redis::start().expect("Redis starts"), free_port());
    let (mut here, mut entered) = entered_on(&format!(
        "[redis]\nurl = \"{}\"\n[node]\nname = \"here\"\n[metrics]\naddress = \"127.0.0.1:{metrics}\"\n",
        redis.url()
    ));
    let path = opened(&here, &mut entered);
    let mut there = here.beside("here", "there");
    there.run(&format!("sed -i /:{metrics}/d desk.toml"), &[]);
    there.serve();
    let runtime = Runtime::new().expect("a runtime");
    let _inside = runtime.enter();
    let (took, mut taken) = mpsc::channel(8);
    let url = format!("http://127.0.0.1:{}", there.port);
    let agent = Agent::connect(Settings::new(url, "gw-helper", entered.get("SECRET")), move |_| {
        let took = took.clone();
        async move { took.send(()).await }
    });
    let agent = agent.expect("good settings");
    runtime.block_on(agent.handshake()).expect("a line");
    let mut arrives = |desk: &Desk, text| {
        let sent = written(desk, &path, text);
        assert!(sent.contains("200 OK"), "{sent}");
        let began = Instant::now();
        let came = runtime.block_on(async { timeout(Duration::from_secs(20), taken.recv()).await });
        came.expect("it arrives").expect("the agent runs");
        began.elapsed()
    };

    wait_until("the bell is whole", || counts(metrics, "nightdesk_bell_broken 0"));
    // The bell rings for a line from a moment after it opened; earlier entries are found all the same.
    wait_until("the other node hears the bell", || {
        arrives(&here, "with");
        let heard = r#"nightdesk_bell_rings_total{outcome="heard"} "#;
        get(metrics, "/metrics").lines().any(|line| line.starts_with(heard))
    });

    redis.stop().expect("Redis stops");
    wait_until("the break is seen", || counts(metrics, "nightdesk_bell_broken 1"));
    for text in ["without", "still without"] {
        let took = arrives(&here, text);
        assert!(took < ADDED + SLACK, "{took:?}");
    }
    assert!(here.get("/readyz").contains("200 OK"), "Redis holds no truth");
    assert!(here.log().contains("the bell between nodes is broken"), "{}", here.log());

    redis.start_again().expect("Redis starts again");
    wait_until("the bell is whole again", || counts(metrics, "nightdesk_bell_broken 0"));
    arrives(&here, "with again");
    runtime.block_on(agent.go_idle());
    there.stop();
    here.stop();
}

#[test]
fn a_redis_over_tls_with_a_password_answers_and_a_wrong_one_is_told() {
    let port = free_port();
    let more = format!("[redis]\nurl = \"rediss://127.0.0.1:{port}\"\npassword_file = \"pass\"\n");
    let config = [blocks(README, "toml")[0], &more].concat();
    let desk = Desk::configured(&config);
    let _redis = TlsRedis::start(desk.folder(), port);
    desk.run(
        "nightdesk key new > vault.key && echo s3cret > pass && chmod 400 vault.key pass",
        &[],
    );
    desk.run("nightdesk migrate", &[]);

    let trusting = "SSL_CERT_FILE=cert.pem nightdesk config check";
    wait_until("it listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    assert!(desk.run(trusting, &[]).contains("ok      Redis responds"));
    let said = desk.fails("nightdesk config check");
    assert!(said.contains("FAILED  Redis responds: could not reach Redis"), "{said}");
    desk.run("chmod 600 pass && echo wrong > pass", &[]);
    let said = desk.fails(trusting);
    assert!(said.contains("FAILED  Redis responds") && !said.contains("wrong"), "{said}");
}
