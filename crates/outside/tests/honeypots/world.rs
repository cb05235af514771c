//! A separate network in which the test answers at every address, of both families.
//!
//! A test starts itself again inside it: `unshare` creates the network, which ends with the process. A proxy is set in
//! the environment there; it is a honeypot too.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::process::Command;
use std::sync::{Arc, Mutex};

use nightdesk_outside::HostRate;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// The ports of honeypots, at every address.
pub(crate) const PORTS: [u16; 5] = [443, 80, 8443, 3128, 6379];

/// Public addresses of this machine.
pub(crate) const OURS_V4: &str = "93.184.216.77";
pub(crate) const OURS_V6: &str = "2606:4700::77";

/// Set inside the network.
const INSIDE: &str = "NIGHTDESK_TEST_WORLD";

/// Routes every address to this machine without making it its own: it has other source addresses. An IPv6 address
/// becomes the machine's own a little after it was added.
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

/// Returns rates that let these hosts be called again at once.
pub(crate) fn often(hosts: &[&str]) -> BTreeMap<String, HostRate> {
    let often = HostRate { per_second: NonZeroU32::MAX, at_once: NonZeroU32::MAX };
    hosts.iter().map(|&host| (host.to_owned(), often)).collect()
}

/// Runs a test in a separate network.
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
    // Also checks that the test ran: a run without a test of that name would succeed.
    let ran = ended.status.success() && said[0].contains("1 passed");
    assert!(ran, "inside, with unshare and ip (iproute2): {}", said.concat());
}

/// The honeypots, and the addresses that were called.
pub(crate) struct World {
    visits: Arc<Mutex<Vec<IpAddr>>>,
    _listening: JoinSet<()>,
}

impl World {
    async fn new() -> Self {
        let visits = Arc::<Mutex<Vec<IpAddr>>>::default();
        let mut listening = JoinSet::new();
        for port in PORTS {
            // The socket accepts both families.
            let any = (Ipv6Addr::UNSPECIFIED, port);
            let listener = TcpListener::bind(any).await.expect("a world of our own");
            listening.spawn(note(listener, Arc::clone(&visits)));
        }
        Self { visits, _listening: listening }
    }

    /// Returns the called addresses, in order.
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
