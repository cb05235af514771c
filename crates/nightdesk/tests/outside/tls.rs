//! A desk that serves TLS, and configurations that would use plain connections to other machines.

use std::path::Path;

use nightdesk_sdk::{Agent, Event, Settings};
use tokio::runtime::Runtime;

use crate::desk::{Desk, ask, free_port, get, value, wait_until};

const CONFIG: &str = r#"
[database]
url = "postgres://nightdesk_app@127.0.0.1:5432/nightdesk"
migrate_url = "postgres://postgres@127.0.0.1:5432/nightdesk"

[vault]
key_file = "vault.key"

[listen]
address = "127.0.0.1:8800"
"#;

/// Continues the `[listen]` table of [`CONFIG`].
const TLS: &str = "tls = { certificate = \"desk.pem\", key = \"desk.key\" }\n";

/// Writes a new self-signed certificate and its key. Returns the certificate.
fn install_certificate(folder: &Path) -> String {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a key");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join("next"), text).expect("write a file");
        std::fs::rename(folder.join("next"), folder.join(name)).expect("replace a file");
    };
    write("desk.pem", &made.cert.pem());
    write("desk.key", &made.signing_key.serialize_pem());
    made.cert.pem()
}

async fn ignore(_: Event) -> Result<(), std::convert::Infallible> {
    Ok(())
}

/// Connects an agent that trusts this certificate, and waits for its line.
async fn connect(port: u16, secret: &str, trusted: &str) -> Agent {
    let url = format!("https://127.0.0.1:{port}");
    let settings = Settings::new(url, "gw-helper", secret).trusting(trusted);
    let agent = Agent::connect(settings, ignore).expect("good settings");
    agent.handshake().await.expect("a line over TLS");
    agent
}

#[test]
fn lines_go_over_tls_and_a_new_certificate_is_served_without_a_restart() {
    let metrics = free_port();
    let listener = format!("[metrics]\naddress = \"127.0.0.1:{metrics}\"\n");
    let mut desk = Desk::migrated(&[CONFIG, TLS, &listener].concat());
    let first = install_certificate(desk.folder());
    desk.run("chmod 400 desk.key", &[]);
    assert!(
        desk.run("nightdesk config check", &[]).contains("ok      the certificate can be served")
    );
    desk.begin_to_serve();
    wait_until("it listens", || desk.log().contains("listens on"));
    // The commands trust the desk's own certificate.
    let trusting = [("SSL_CERT_FILE", "desk.pem".to_owned())];
    desk.log_in(&trusting);
    desk.run("nightdesk tenant create acme", &trusting);
    desk.run("nightdesk agent create --tenant acme helper", &trusting);
    let create = "nightdesk gateway create --tenant acme --agent helper --name gw-helper";
    let secret = value(&desk.run(create, &trusting), "secret").to_owned();
    let runtime = Runtime::new().expect("a runtime");
    let counted = |line: &str| get(metrics, "/metrics").lines().any(|counted| counted == line);

    let agent = runtime.block_on(connect(desk.port, &secret, &first));
    runtime.block_on(agent.disconnect());
    let plain = ask(desk.port, "GET", "/healthz", "\r\n");
    assert!(!plain.contains("200 OK"), "{plain}");

    std::fs::write(desk.folder().join("desk.pem"), "no certificate").expect("write a file");
    wait_until("the fault is counted", || counted("nightdesk_tls_certificate_reload_failed 1"));
    // The log is written by another thread than the one that counts.
    wait_until("the fault is in the log", || desk.log().contains("the previous one stays"));
    let agent = runtime.block_on(connect(desk.port, &secret, &first));
    runtime.block_on(agent.disconnect());

    let second = install_certificate(desk.folder());
    desk.signal("-HUP");
    wait_until("it is replaced", || counted("nightdesk_tls_certificate_replaced_total 1"));
    wait_until("the fault is over", || counted("nightdesk_tls_certificate_reload_failed 0"));
    let agent = runtime.block_on(connect(desk.port, &secret, &second));
    runtime.block_on(agent.disconnect());
    desk.stop();
}

#[test]
fn a_plain_listener_for_other_machines_is_refused() {
    let desk = Desk::migrated(CONFIG);
    desk.run("sed -i 's/^address = .*/address = \"0.0.0.0:0\"/' desk.toml", &[]);

    for command in ["nightdesk config check", "nightdesk serve"] {
        let said = desk.fails(command);
        assert!(said.contains("listen.tls = \"in-front\""), "{command}: {said}");
    }
    desk.run("echo 'tls = \"in-front\"' >> desk.toml", &[]);
    let said = desk.fails("nightdesk config check");
    assert!(said.contains("listen.public_url"), "{said}");
    desk.run("echo 'public_url = \"https://desk.example.org\"' >> desk.toml", &[]);
    desk.run("nightdesk config check", &[]);
}

#[test]
fn a_certificate_that_cannot_be_served_is_refused() {
    let desk = Desk::migrated(&[CONFIG, TLS].concat());
    let check = "FAILED  the certificate can be served";
    let said = desk.fails("nightdesk config check");
    assert!(said.contains(check) && said.contains("could not read desk.pem"), "{said}");

    install_certificate(desk.folder());
    desk.run("cp desk.key other.key", &[]);
    install_certificate(desk.folder());
    let said = desk.fails("nightdesk config check");
    assert!(said.contains("chmod 400 desk.key"), "{said}");
    desk.run("mv other.key desk.key && chmod 400 desk.key", &[]);
    let said = desk.fails("nightdesk config check");
    assert!(said.contains(check) && said.contains("does not belong to"), "{said}");
    assert!(desk.fails("nightdesk serve").contains("does not belong to"));
}

#[test]
fn plain_connections_to_other_servers_are_refused() {
    let desk = Desk::migrated(CONFIG);
    desk.run("printf '[redis]\\nurl = \"redis://redis.example.org:6379\"\\n' >> desk.toml", &[]);
    let said = desk.fails("nightdesk config check");
    assert!(said.contains("redis.plaintext = true"), "{said}");

    // The test server has no TLS; off loopback this mode is the default.
    desk.run("sed -i -e '/redis/d' -e '/^url/s/\"$/?sslmode=verify-full\"/' desk.toml", &[]);
    let said = desk.fails("nightdesk config check");
    assert!(said.contains("FAILED  the database responds"), "{said}");
    assert!(said.contains("?sslrootcert=FILE"), "{said}");
}
