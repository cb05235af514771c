//! The state that the routes for agents and gateways share.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use nightdesk_desk::{Desk, LimitedAction};
use nightdesk_letters::Party;
use nightdesk_line::{LineContext, PolledLines, PostedLines};
use nightdesk_office::Office;
use nightdesk_register::Issuer;
use nightdesk_types::Timestamp;

use crate::peers::PeerNodes;
use crate::problem::{self, Problem};
use crate::relays::Relays;

/// The desk, the node's lines and the operator's schedulers.
#[derive(Clone)]
pub(crate) struct ApiState {
    pub(crate) desk: Arc<Desk>,
    pub(crate) line_context: Arc<LineContext>,
    pub(crate) relays: Relays,
    pub(crate) polled: Arc<PolledLines>,
    pub(crate) posted: Arc<PostedLines>,
    pub(crate) peers: Arc<dyn PeerNodes>,
    pub(crate) office: Arc<Office>,
}

impl ApiState {
    /// The desk's own issuer.
    pub(crate) fn issuer(&self) -> &Issuer {
        self.desk.stops.issuers.own_issuer()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.line_context.clock.now()
    }

    /// Counts a failed authentication. Returns false if the address has exceeded its limit. A valid credential is never
    /// counted and never refused for earlier failures.
    pub(crate) fn count_failure(&self, address: IpAddr) -> bool {
        self.line_context.failures.count(address, self.line_context.clock.moment())
    }

    /// Counts a failed authentication and returns the 401, or the 429 once the address has exceeded its limit.
    pub(crate) fn unauthorized(&self, from: SocketAddr, detail: &'static str) -> Problem {
        if self.count_failure(from.ip()) {
            return problem::UNAUTHORIZED.with_detail(detail);
        }
        too_many_failures()
    }

    /// Counts a call of an agent against this node's share of a rate limit.
    pub(crate) fn count_call(&self, what: LimitedAction, agent: Party) -> Result<(), Problem> {
        let counted = self.desk.stops.limits.allow(what, &agent.agent.to_string());
        let detail = "the agent exceeds its rate limit; wait, and send fewer requests";
        counted.map_err(|_| problem::TOO_MANY.with_detail(detail))
    }
}

/// The response to an address with too many failed authentications.
pub(crate) fn too_many_failures() -> Problem {
    problem::TOO_MANY.with_detail("too many bad tokens from this address; wait a minute")
}
