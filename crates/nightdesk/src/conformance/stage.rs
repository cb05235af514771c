//! The stage of all scenarios: the desk, its tenant, and the door for posts.

use std::net::SocketAddr;

use nightdesk_protocol::upgrade_token::{UPGRADE_TTL_SECS, make};
use nightdesk_types::{Actor, AgentId, Clock, SystemClock, TenantScope};
use serde_json::json;
use tokio_util::task::TaskTracker;

use super::posts::PostDoor;
use super::scenario::TrialTransport;
use crate::command::AgentTrialArgs;
use crate::command::names::operator_scope;
use crate::trial_desk::{NewPage, TrialDesk};

const TENANT: &str = "trial";

/// The stage.
pub(super) struct TrialStage<'d> {
    pub(super) desk: &'d TrialDesk,
    pub(super) posts: PostDoor,
    pub(super) tasks: TaskTracker,
    pub(super) transport: TrialTransport,
    pub(super) words: Vec<String>,
    scope: TenantScope,
}

/// The identities of one scenario.
pub(super) struct TrialAgent {
    pub(super) name: String,
    /// The path of its chat page.
    pub(super) page: String,
    pub(super) gateway: GatewaySecret,
    /// Another gateway of the agent.
    pub(super) rival: GatewaySecret,
    /// The secret of its webhook, if the desk posts to it.
    pub(super) webhook_secret: Option<String>,
}

/// A gateway and its secret.
pub(super) struct GatewaySecret {
    pub(super) name: String,
    pub(super) secret: String,
}

impl GatewaySecret {
    /// Returns the header of a request, with a fresh token.
    pub(super) fn authorization(&self) -> String {
        let now = SystemClock::start().now();
        let token = make(&self.name, self.secret.as_bytes(), UPGRADE_TTL_SECS, now);
        format!("Bearer {}", token.expose())
    }
}

impl<'d> TrialStage<'d> {
    pub(super) async fn prepare(
        desk: &'d TrialDesk,
        posts: PostDoor,
        tasks: TaskTracker,
        arguments: &AgentTrialArgs,
    ) -> anyhow::Result<Self> {
        let scope = operator_scope(desk.register().create_tenant(Actor::Operator, TENANT).await?);
        let (transport, words) = (arguments.transport, arguments.command.clone());
        Ok(Self { desk, posts, tasks, transport, words, scope })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.desk.config.listen.address
    }

    /// Creates the agent of a scenario, with a page that is open to anyone.
    pub(super) async fn create_agent(&self, name: &str) -> anyhow::Result<TrialAgent> {
        let agent = self.desk.register().store().create_agent(self.scope, name).await?;
        let settings = json!({ "title": name, "greeting": "" });
        let page =
            self.desk.open_page(self.scope, agent, NewPage { handle: name, settings }).await?;
        let gateway = self.create_gateway(agent, format!("gw-{name}")).await?;
        let rival = self.create_gateway(agent, format!("gw-{name}-rival")).await?;
        let webhook_secret = match self.transport {
            TrialTransport::Webhook => Some(self.set_webhook(agent, name).await?),
            TrialTransport::Line | TrialTransport::Polling | TrialTransport::Mcp => None,
        };
        Ok(TrialAgent { name: name.to_owned(), page, gateway, rival, webhook_secret })
    }

    async fn create_gateway(&self, agent: AgentId, name: String) -> anyhow::Result<GatewaySecret> {
        let (_, key) = self.desk.register().create_gateway(self.scope, agent, &name).await?;
        Ok(GatewaySecret { name, secret: key.with(str::to_owned) })
    }

    async fn set_webhook(&self, agent: AgentId, name: &str) -> anyhow::Result<String> {
        let url = self.posts.url(name);
        Ok(self.desk.office().set_webhook(self.scope, agent, &url).await?.secret)
    }

    /// Revokes the gateway of an agent.
    pub(super) async fn revoke(&self, agent: &TrialAgent) -> anyhow::Result<()> {
        self.desk.register().store().revoke(self.scope, &agent.gateway.name).await?;
        Ok(())
    }
}
