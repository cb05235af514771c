//! The lines of a node, of which each agent has one.

use std::sync::Arc;

use loom::thread;
use nightdesk_types::{AgentId, GatewayId, Generation, Incarnation, Seq, TenantId, TenantScope};
use uuid::Uuid;

use crate::bell::{Bell, Ring};
use crate::bus::line_registry::LineRegistry;
use crate::registered_line::{LineOrder, NewLine};
use crate::{block_on, explore};

const AGENT: AgentId = AgentId::from_uuid(Uuid::nil());

const fn line(generation: i64) -> NewLine {
    NewLine {
        scope: TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil())),
        agent: AGENT,
        gateway: GatewayId::from_uuid(Uuid::nil()),
        incarnation: Incarnation::new(1),
        generation: Generation::new(generation),
    }
}

/// Two lines of an agent register at once: the newer one stays, and only the older one is told to end.
pub fn the_newer_of_two_lines_stays() {
    explore(|| {
        let lines = Arc::new(LineRegistry::default());
        let older_lines = Arc::clone(&lines);
        let older = thread::spawn(move || older_lines.register_line(line(1)));
        let newer = lines.register_line(line(2));
        let Ok(older) = older.join() else { unreachable!("registering does not panic") };
        assert_eq!(lines.generation(AGENT), Some(Generation::new(2)));
        assert_eq!(older.take_hints().orders, [LineOrder::Replaced]);
        assert_eq!(newer.take_hints().orders, []);
        assert!(lines.changed_addresses().take().is_some(), "the node subscribes");
    });
}

/// A line ends while its successor registers: the successor stays.
pub fn the_end_of_a_line_keeps_its_successor() {
    explore(|| {
        let lines = Arc::new(LineRegistry::default());
        let older = lines.register_line(line(1));
        let closing = Arc::clone(&lines);
        let closed = thread::spawn(move || closing.close_line(&older));
        let _newer = lines.register_line(line(2));
        assert!(closed.join().is_ok());
        assert_eq!(lines.generation(AGENT), Some(Generation::new(2)));
        assert_eq!(lines.count(), 1);
    });
}

/// Two threads ring for a line that waits: it learns of the highest number and of the order.
pub fn a_line_misses_no_hint() {
    explore(|| {
        let lines = Arc::new(LineRegistry::default());
        let registered = lines.register_line(line(1));
        let rings = [
            Ring::Entry { agent: AGENT, seq: Seq::new(1) },
            Ring::Replaced { agent: AGENT, by: Generation::new(2) },
        ];
        let threads = rings.map(|ring| {
            let lines = Arc::clone(&lines);
            thread::spawn(move || assert!(block_on(lines.ring(ring)), "the line is here"))
        });
        let (mut seq, mut orders) = (None, Vec::new());
        while seq.is_none() || orders.is_empty() {
            block_on(registered.wait_for_hint());
            let hints = registered.take_hints();
            seq = seq.max(hints.seq);
            orders.extend(hints.orders);
        }
        assert_eq!((seq, orders), (Some(Seq::new(1)), vec![LineOrder::Replaced]));
        for thread in threads {
            assert!(thread.join().is_ok());
        }
    });
}
