//! The stage of the connector that reaches no agent.

use async_trait::async_trait;
use nightdesk_letters::connectors::NoOp;

use super::clock;
use crate::connector::{Seen, Stage};

pub(super) struct NoOpStage(NoOp);

impl NoOpStage {
    pub(super) fn new() -> Self {
        Self(NoOp::new(clock()))
    }
}

#[async_trait]
impl Stage for NoOpStage {
    type Connector = NoOp;

    fn name(&self) -> &'static str {
        "noop"
    }

    fn connector(&self) -> &NoOp {
        &self.0
    }

    fn broken(&self) -> Option<&NoOp> {
        None
    }

    fn agent(&self) -> Option<String> {
        None
    }

    fn interrupts(&self) -> bool {
        false
    }

    async fn seen(&self) -> Vec<Seen> {
        Vec::new()
    }
}
