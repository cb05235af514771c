//! A network of its own, in which every address there is, of both kinds, is answered by us.
//!
//! A test starts itself again inside it: `unshare` makes the network, and it is gone with the
//! process. A proxy is set in the environment there; it is a honeypot too.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::process::Command;
use std::sync::{Arc, Mutex};

use nightdesk_outside::HostRate;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Where honeypots listen, at every address.
pub(crate) const PORTS: [u16; 5] = [443, 80, 8443, 3128, 6379];

/// Public addresses of this machine.
pub(crate) const OURS_V4: &str = "93.184.216.77";
pub(crate) const OURS_V6: &str = "2606:4700::77";

/// Is set inside.
const INSIDE: &str = "NIGHTDESK_TEST_WORLD";

/// Lets every address lead to this machine, without being its own: it has others to call from. An address of the
/// newer kind is one's own a little after it was added.
const MAKE: &str = "
    set -e
    ip link set lo up
    ip address add 192.0.2.77/32 dev lo
    ip address add 93.184.216.77/32 dev lo
    ip address add 2001:db8::77/128 dev lo nodad
    ip address add 2606:4700::77/128 dev lo nodad
    ip route add local default dev lo src 192.0.2.77
    ip -6 route add local default dev lo src 2001:db8::77
    until ip -6 route get 2606:4700::77 | grep -q 'src 2606:4700::77'; do sleep 0.01; done
    exec \"$0\" \"$@\"
";

/// Rates that let these hosts be called again at once.
pub(crate) fn often(hosts: &[&str]) -> BTreeMap<String, HostRate> {
    let often = HostRate { per_second: NonZeroU32::MAX, at_once: NonZeroU32::MAX };
    hosts.iter().map(|&host| (host.to_owned(), often)).collect()
}

/// Runs what a test does in a world of its own.
pub(crate) fn enter(test: &str, story: impl AsyncFnOnce(World)) {
    if std::env::var_os(INSIDE).is_none() {
        return start_again(test);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async { story(World::new().await).await });
}

fn start_again(test: &str) {
    let this = std::env::current_exe().expect("a test has a file");
    let mut inside = Command::new("unshare");
    inside.args(["--map-root-user", "--net", "sh", "-c", MAKE]).arg(this);
    inside.args(["--exact", test, "--nocapture"]).env(INSIDE, "yes");
    for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"] {
        inside.env(proxy, "http://203.0.113.9:3128");
    }
    let ended = inside.output().expect("unshare (util-linux) is installed");
    let said = [ended.stdout, ended.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    // Also that it ran: no test of that name would be no failure.
    let ran = ended.status.success() && said[0].contains("1 passed");
    assert!(ran, "inside, with unshare and ip (iproute2): {}", said.concat());
}

/// The honeypots, and who was called by mistake.
pub(crate) struct World {
    visits: Arc<Mutex<Vec<IpAddr>>>,
    _listening: JoinSet<()>,
}

impl World {
    async fn new() -> Self {
        let visits = Arc::<Mutex<Vec<IpAddr>>>::default();
        let mut listening = JoinSet::new();
        for port in PORTS {
            // It hears both kinds.
            let any = (Ipv6Addr::UNSPECIFIED, port);
            let listener = TcpListener::bind(any).await.expect("a world of our own");
            listening.spawn(note(listener, Arc::clone(&visits)));
        }
        Self { visits, _listening: listening }
    }

    /// The addresses that were called, in order.
    pub(crate) fn visits(&self) -> Vec<IpAddr> {
        self.visits.lock().expect("nobody panicked").clone()
    }
}

async fn note(listener: TcpListener, visits: Arc<Mutex<Vec<IpAddr>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let called = stream.local_addr().expect("it is connected").ip().to_canonical();
        visits.lock().expect("nobody panicked").push(called);
    }
}
