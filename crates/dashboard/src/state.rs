//! The state that all pages share.

use std::net::IpAddr;
use std::sync::Arc;

use nightdesk_line::LineContext;
use nightdesk_office::Office;
use nightdesk_types::Timestamp;
use nightdesk_users::oidc::Logins;

use crate::clock::PageClock;
use crate::live::LiveStreams;

/// The parts of the desk that the pages use.
#[derive(Clone, Debug)]
pub struct DashboardParts {
    /// The functions of operators and tenants.
    pub office: Arc<Office>,
    /// The providers at which users log in.
    pub logins: Arc<Logins>,
    /// The clock, the end of the node, and the count of failed authentications.
    pub line_context: Arc<LineContext>,
    /// The URL at which browsers reach the desk, without a slash at its end.
    pub public_url: String,
}

/// The state of the pages.
#[derive(Clone, Debug)]
pub(crate) struct Dashboard {
    parts: Arc<DashboardParts>,
    /// The open streams of this node.
    pub(crate) streams: Arc<LiveStreams>,
}

impl Dashboard {
    pub(crate) fn new(parts: DashboardParts) -> Self {
        Self { parts: Arc::new(parts), streams: Arc::default() }
    }

    pub(crate) fn office(&self) -> &Office {
        &self.parts.office
    }

    pub(crate) fn logins(&self) -> &Logins {
        &self.parts.logins
    }

    pub(crate) fn public_url(&self) -> &str {
        &self.parts.public_url
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.parts.line_context.clock.now()
    }

    /// Returns the clock of a page, which is made at this moment.
    pub(crate) fn page_clock(&self) -> PageClock {
        PageClock::new(self.now())
    }

    /// Waits until the node stops.
    pub(crate) async fn drained(&self) {
        self.parts.line_context.drain.cancelled().await;
    }

    /// Counts a failed login. Returns false if the address has exceeded its limit.
    pub(crate) fn count_failure(&self, address: IpAddr) -> bool {
        let LineContext { failures, clock, .. } = &*self.parts.line_context;
        failures.count(address, clock.moment())
    }
}
