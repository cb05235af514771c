//! Implements the requests that lines make to the desk.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use nightdesk_bus::{Bell, Ring};
use nightdesk_gate::BotTag;
use nightdesk_inbox::LineClaim;
use nightdesk_line::session::HelloLookup;
use nightdesk_line::{AuthenticatedGateway, DialLimits, IdentifyOutcome, LineHandler};
use nightdesk_port::{ContextSource, LengthUnit, PlatformCapabilities};
use nightdesk_protocol::Bearer;
use nightdesk_protocol::descriptor::{Ability, Descriptor, LenUnit};
use nightdesk_protocol::frame::{Interrupt, Outbound};
use nightdesk_protocol::hello::{Hello, RELAY_PLATFORM};
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_register::{Gateway, GatewayProof, Issuers, Register};
use nightdesk_types::{
    AgentId, BotId, ClientRules, StopOutcome, StopReceiver, StoreError, TenantScope, Timestamp,
};
use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_util::task::TaskTracker;

use crate::accounts::store_error;
use crate::commands::Commands;
use crate::outbound::Outbound as OutboundFlow;
use crate::{Account, Accounts, Limits, Stops, Waking};

/// The desk as the lines see it.
#[derive(Debug)]
pub struct LineBackend {
    register: Arc<Register>,
    issuers: Arc<Issuers>,
    accounts: Arc<Accounts>,
    limits: Arc<Limits>,
    commands: Arc<Commands>,
    outbound: Arc<OutboundFlow>,
    waking: Arc<Waking>,
    bell: Arc<dyn Bell>,
    tasks: TaskTracker,
}

impl LineBackend {
    pub(crate) fn new(stops: &Stops, outbound: OutboundFlow, waking: &Arc<Waking>) -> Self {
        let (commands, outbound) = (Arc::new(Commands::new(stops)), Arc::new(outbound));
        let Stops { register, issuers, accounts, limits, bell, tasks, .. } = stops.clone();
        let waking = Arc::clone(waking);
        Self { register, issuers, accounts, limits, commands, outbound, waking, bell, tasks }
    }

    /// Stops the turn of a session, wherever its agent's line is.
    pub async fn stop_turn(
        &self,
        agent: AgentId,
        session_key: &SessionKey,
        chat_id: &str,
    ) -> StopResult {
        let stop = Ring::Stop {
            agent,
            session_key: session_key.as_str().to_owned(),
            chat_id: chat_id.to_owned(),
            report_to: None,
        };
        if self.bell.ring(stop).await { StopResult::Told } else { StopResult::NotRunning }
    }

    /// Returns the gateway as which an agent calls with another token of its own.
    pub async fn gateway_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<AuthenticatedGateway>, StoreError> {
        let proof = self.register.gateway_of_token(scope, agent).await.map_err(store_error)?;
        Ok(match proof {
            Some(GatewayProof::Valid(gateway)) => Some(authenticated_gateway(gateway)),
            Some(GatewayProof::Revoked(_)) | None => None,
        })
    }

    /// Returns the first bot that a hello names: one of the agent's bots, or one that the agent may still be linked on.
    /// A client uses the descriptor of a platform until it exits.
    async fn find_named_bot(
        &self,
        caller: &AuthenticatedGateway,
        hello: &Hello,
    ) -> Result<Option<BotId>, StoreError> {
        let (store, tag) = (self.register.store(), bot_tag(hello));
        let own = store.bots_of(caller.scope, caller.agent).await?;
        let own = own.iter().find(|bot| tag.matches(&bot.platform, &bot.handle)).map(|bot| bot.id);
        if own.is_some() || tag.platform.is_none() {
            return Ok(own);
        }
        let open = store.open_bots(caller.scope).await?;
        Ok(open.iter().find(|bot| tag.matches(&bot.platform, &bot.handle)).map(|bot| bot.id))
    }
}

#[async_trait]
impl LineHandler for LineBackend {
    async fn identify(
        &self,
        shown: &Bearer<'_>,
        now: Timestamp,
        dials: &DialLimits,
    ) -> Result<IdentifyOutcome, StoreError> {
        let proof = match shown {
            Bearer::Upgrade(token) => self.register.identify(token).await,
            Bearer::Jwt(token) => match self.issuers.agent_of(token, now).await {
                Ok(Some((scope, agent))) => {
                    dials.run_in_turn(self.register.gateway_of_token(scope, agent)).await
                }
                Ok(None) => Ok(None),
                Err(error) => Err(error),
            },
        };
        Ok(match proof.map_err(store_error)? {
            Some(GatewayProof::Valid(gateway)) => {
                IdentifyOutcome::Welcome(authenticated_gateway(gateway))
            }
            Some(GatewayProof::Revoked(_)) => IdentifyOutcome::Revoked,
            None => IdentifyOutcome::Unknown,
        })
    }

    async fn greet(
        &self,
        caller: &AuthenticatedGateway,
        hello: &Hello,
    ) -> Result<HelloLookup, StoreError> {
        let first = match self.find_named_bot(caller, hello).await? {
            Some(bot) => self.accounts.find_by_id(bot).await.map_err(store_error)?,
            None => None,
        };
        let descriptor = match first {
            Some(Account { bot, platform }) => {
                if let Some(offered) = &hello.commands
                    && platform.has_commands()
                {
                    self.commands.announce(*caller, bot.id, offered);
                }
                let descriptor = describe(&hello.platform, &platform.capabilities(&bot));
                let is_told = platform.context_source() != ContextSource::Untold;
                if is_told { descriptor.with(Ability::Context) } else { descriptor }
            }
            None => Descriptor::new(&hello.platform, &hello.platform, MESSAGE_LENGTH_DEFAULT),
        };
        Ok(HelloLookup { descriptor })
    }

    fn send(
        &self,
        caller: AuthenticatedGateway,
        hellos: Vec<Hello>,
        outbound: Outbound,
    ) -> BoxFuture<'static, Outcome> {
        let flow = Arc::clone(&self.outbound);
        // The turn in the lane is taken now, so that sends stay in the order of their arrival.
        let turn = flow.enter_lane(caller.agent, &outbound.action);
        // A fleeting send has its own rate limit.
        let wait = if turn.is_some() {
            self.limits.reserve_send(caller.agent)
        } else {
            Some(Duration::ZERO)
        };
        let (tell, told) = oneshot::channel();
        self.tasks.spawn(async move {
            let greeted: Vec<BotTag> = hellos.iter().map(bot_tag).collect();
            let outcome = match wait {
                Some(wait) => {
                    sleep(wait).await;
                    flow.send(caller, &greeted, outbound, turn).await
                }
                None => Outcome::unrecorded("too many sends for the rate limit"),
            };
            // The line may have ended; the result is stored all the same.
            drop(tell.send(outcome));
        });
        told.map(|told| told.unwrap_or_else(|_| Outcome::ambiguous())).boxed()
    }

    async fn stop(&self, caller: &AuthenticatedGateway, interrupt: Interrupt) {
        // The frame asks for no answer.
        self.stop_turn(caller.agent, &interrupt.session_key, "").await;
    }

    async fn report_stop(&self, receiver: StopReceiver, outcome: StopOutcome) {
        let StopReceiver { stop_id, node } = receiver;
        // The person who waits is told that the stop was delivered if this hint is lost.
        self.bell.ring(Ring::StopReported { node, stop_id, outcome }).await;
    }

    async fn follow_rules(
        &self,
        caller: &AuthenticatedGateway,
        rules: ClientRules,
    ) -> Result<(), StoreError> {
        let store = self.register.store();
        store.follow_rules(caller.scope, caller.agent, rules).await?;
        tracing::info!(agent.id = %caller.agent, rules = rules.slug(), "the rules for the agent's client changed");
        Ok(())
    }

    async fn suspect(&self, line: &LineClaim) -> Result<(), StoreError> {
        self.waking.suspect(line).await
    }
}

/// The result of a request to stop a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopResult {
    /// The agent's line got the stop; it cancels the turn of that session and no other.
    Told,
    /// The agent has no line, so no turn of it runs.
    NotRunning,
}

const fn authenticated_gateway(gateway: Gateway) -> AuthenticatedGateway {
    let Gateway { scope, id, agent, acks } = gateway;
    AuthenticatedGateway { scope, agent, gateway: id, acks }
}

/// Returns the bots that a hello names. A client without a configured platform sends `relay` and means all bots of the
/// agent.
fn bot_tag(hello: &Hello) -> BotTag {
    let Hello { platform, bot_handle, .. } = hello;
    BotTag {
        platform: Some(platform).filter(|platform| *platform != RELAY_PLATFORM).cloned(),
        handle: Some(bot_handle).filter(|handle| !handle.is_empty()).cloned(),
    }
}

const MESSAGE_LENGTH_DEFAULT: NonZeroU32 = NonZeroU32::new(4_096).unwrap();

fn describe(platform: &str, can: &PlatformCapabilities) -> Descriptor {
    let length = NonZeroU32::new(can.message_length_max).unwrap_or(MESSAGE_LENGTH_DEFAULT);
    let unit = match can.length_unit {
        LengthUnit::Chars => LenUnit::Chars,
        LengthUnit::Utf16 => LenUnit::Utf16,
    };
    let descriptor = Descriptor::new(platform, &can.label, length)
        .with_len_unit(unit)
        .marked_up_as(&can.markdown_dialect)
        .with_emoji(can.emoji)
        .with_hint(&can.hint)
        .with_ops(can.ops.iter().copied());
    let can_do = |op: &str| can.ops.contains(&op);
    let abilities = [
        (Ability::Edit, can_do("edit")),
        (Ability::DraftStreaming, can_do("draft")),
        (Ability::Threads, can.threads),
        (Ability::PiiSafe, can.is_pii_safe),
    ];
    let able = abilities.into_iter().filter(|(_, can)| *can);
    able.fold(descriptor, |descriptor, (ability, _)| descriptor.with(ability))
}
