//! The simulated store: the test kit's memory store behind a connection that may be slow, cut or lossy.
//!
//! # Promise
//!
//! It passes the same conformance suites as the store in PostgreSQL. A failed call has done nothing, or everything with
//! a lost response: the caller cannot distinguish the two.

mod weather;
mod stops;
mod register;
mod rooms;

use nightdesk_memory::Memory;
use nightdesk_types::{Clock, Moment, StoreError};
use tokio::time::sleep;

pub use weather::{Climate, Weather};

use crate::time;

/// The store as one node reaches it. It outlives the node.
#[derive(Clone, Debug)]
pub struct SimStore {
    memory: Memory,
    node: String,
    weather: Weather,
}

impl SimStore {
    /// Creates the connection of this node to the store.
    pub fn reached_from(node: &str, memory: &Memory, weather: &Weather) -> Self {
        Self { memory: memory.clone(), node: node.to_owned(), weather: weather.clone() }
    }

    /// Returns the store behind the connection.
    pub(crate) fn memory(&self) -> Memory {
        self.memory.clone()
    }

    /// Makes a call: request, execution and response. Either direction may get lost.
    async fn call<T>(
        &self,
        operation: &'static str,
        done: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.travel(operation).await?;
        self.tell_time();
        let answer = done.await;
        self.travel(operation).await?;
        answer
    }

    async fn travel(&self, operation: &'static str) -> Result<(), StoreError> {
        let (takes, lost) = self.weather.way(&self.node);
        if !takes.is_zero() {
            sleep(takes).await;
        }
        if lost || self.weather.is_away(&self.node) {
            return Err(StoreError::unavailable(operation, "the simulated store is away"));
        }
        Ok(())
    }

    /// Sets the database's clock to the time of the simulation.
    fn tell_time(&self) {
        let clock = self.memory.clock();
        let now = Moment::after_start(time::elapsed());
        clock.let_pass(now.since(clock.moment()));
    }
}

/// Implements a port on the simulated store: every method calls that of the memory store.
macro_rules! through {
    ($port:path { $(fn $name:ident($($arg:ident: $type:ty),*) -> $answer:ty;)+ }) => {
        #[async_trait::async_trait]
        impl $port for $crate::store::SimStore {
            $(
                async fn $name(
                    &self,
                    $($arg: $type),*
                ) -> Result<$answer, nightdesk_types::StoreError> {
                    let done = <nightdesk_memory::Memory as $port>::$name(&self.memory, $($arg),*);
                    self.call(stringify!($name), done).await
                }
            )+
        }
    };
}

use through;

#[cfg(test)]
mod tests;
