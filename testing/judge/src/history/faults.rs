//! The injected faults: their places and times.

use crate::history::rows::{Line, Mark};
use crate::names::{Name, Names};

/// Components that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Node,
    Postgres,
    Redis,
    Gateway,
    Platform,
    Target,
}

/// One end of a path; for gateways and agents possibly a named one.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// `None` for an unknown word, which excuses nothing.
    kind: Option<Kind>,
    name: Option<Name>,
}

/// A fault.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) id: Name,
    pub(crate) on: Mark,
    pub(crate) off: Option<Mark>,
    /// One place, or the two ends of a path.
    places: Vec<Place>,
}

impl Fault {
    pub(crate) fn new(names: &mut Names, on: Mark, id: Name, target: &str) -> Self {
        let places = target.split('/').map(|end| place(names, end)).collect();
        Self { id, on, off: None, places }
    }

    /// Returns true if the fault was on at some time in between.
    pub(crate) fn was_on(&self, from: Mark, until: Mark) -> bool {
        self.on.at_ns <= until.at_ns && self.off.is_none_or(|off| off.at_ns >= from.at_ns)
    }

    /// Returns true if one of its places is of this kind.
    pub(crate) fn touches(&self, kind: Kind) -> bool {
        self.places.iter().any(|place| place.kind == Some(kind))
    }

    /// Returns true if the fault may have lost an ack of this line, on the path or in the tables.
    pub(crate) fn is_on_path_of(&self, line: &Line) -> bool {
        self.places.iter().all(|place| match place.kind {
            Some(Kind::Node | Kind::Postgres) => true,
            Some(Kind::Gateway) => {
                place.name.is_none_or(|name| name == line.gateway || name == line.agent)
            }
            Some(Kind::Redis | Kind::Platform | Kind::Target) | None => false,
        })
    }
}

fn place(names: &mut Names, end: &str) -> Place {
    let (word, name) = end.split_once([':', '-']).map_or((end, None), |(w, n)| (w, Some(n)));
    let kind = match word {
        "node" | "nodes" => Some(Kind::Node),
        "postgres" => Some(Kind::Postgres),
        "redis" => Some(Kind::Redis),
        "gateway" | "gateways" => Some(Kind::Gateway),
        "platform" | "platforms" => Some(Kind::Platform),
        "target" | "targets" => Some(Kind::Target),
        _ => None,
    };
    Place { kind, name: name.map(|name| names.of(name)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_on_a_lines_path_if_all_of_it_is() {
        let mut names = Names::default();
        let mark = Mark { at_ns: 0, record: 0 };
        let line = Line {
            opened: mark,
            proc: names.of("p"),
            gateway: names.of("g-1"),
            agent: names.of("alice"),
            closed: None,
        };
        let id = names.of("f");
        let cases = [
            ("node-1", true),
            ("node-1/postgres", true),
            ("gateway", true),
            ("gateway:g-1", true),
            ("gateway:alice/nodes", true),
            ("gateway:g-2", false),
            ("redis", false),
            ("node-1/redis", false),
            ("platforms/nodes", false),
            ("the moon", false),
        ];
        for (target, want) in cases {
            let fault = Fault::new(&mut names, mark, id, target);
            assert_eq!(fault.is_on_path_of(&line), want, "{target}");
        }
    }
}
