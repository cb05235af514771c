//! The rate limit of all nodes, counted in Redis.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_bus::SharedRateLimit;
use nightdesk_types::rate_limit::Rate;

use crate::bell::RedisBell;

/// The algorithm of [`nightdesk_types::pace`], in microseconds and by the clock of Redis. A stored value that is not a
/// number counts as absent.
const COUNT: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local busy = math.max(tonumber(redis.call('GET', KEYS[1]) or '') or now, now)
local wait = busy - now - ARGV[2]
if wait > 0 then return wait end
busy = busy + ARGV[1]
redis.call('SET', KEYS[1], string.format('%.0f', busy), 'PX', math.ceil((busy - now) / 1000))
return 0
";

#[async_trait]
impl SharedRateLimit for RedisBell {
    async fn take(&self, key: &str, rate: Rate) -> Option<Result<(), Duration>> {
        let micros = |span: Duration| u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        let mut count = redis::cmd("EVAL");
        count.arg(COUNT).arg(1).arg(self.channels.rate_limit_key(key));
        count.arg(micros(rate.step())).arg(micros(rate.ahead()));
        let wait = u64::try_from(self.publisher.run_command(&count).await?).ok()?;
        let wait = Duration::from_micros(wait);
        // A real wait is never longer than the time to the next turn, so a longer one is ignored.
        let is_true = wait <= rate.step();
        is_true.then(|| if wait.is_zero() { Ok(()) } else { Err(wait) })
    }
}
