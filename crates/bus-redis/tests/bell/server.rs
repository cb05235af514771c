//! A Redis server of the test, and the faults that a test can cause.

use std::process::Command;

use nightdesk_servers::Redis;
use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;

use crate::node::PATIENCE;

/// A Redis server that is continued when it is dropped, so that it can end.
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

    /// Connects another client without restrictions.
    pub(crate) async fn client(&self) -> MultiplexedConnection {
        let client = redis::Client::open(self.url()).expect("a URL");
        // A busy machine may be slow.
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
        let connected = client.get_multiplexed_async_connection_with_config(&config).await;
        connected.expect("Redis answers")
    }

    /// Runs a command on the server.
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
