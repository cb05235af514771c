//! A Redis of the test's own, and what can be done to it.

use std::process::Command;

use nightdesk_servers::Redis;
use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;

use crate::node::PATIENCE;

/// A Redis that goes on when it is dropped, so that it can end.
pub(crate) struct Server(pub(crate) Redis);

impl Server {
    pub(crate) fn start() -> Self {
        Self(Redis::start().expect("Redis starts"))
    }

    pub(crate) fn url(&self) -> String {
        self.0.url()
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.0.pid().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().expect("kill").success());
    }

    /// Somebody else who may do anything there.
    pub(crate) async fn client(&self) -> MultiplexedConnection {
        let client = redis::Client::open(self.url()).expect("a URL");
        // A busy machine may take its time.
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
        let connected = client.get_multiplexed_async_connection_with_config(&config).await;
        connected.expect("Redis answers")
    }

    /// Has Redis do something.
    pub(crate) async fn order(&self, words: &[&str]) {
        let mut order = redis::cmd(words[0]);
        order.arg(&words[1..]);
        let done: redis::Value = order.query_async(&mut self.client().await).await.expect("done");
        drop(done);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal("CONT");
    }
}
