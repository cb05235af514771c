//! I26: an item on a shelf is as written, with one version per change. I3: other tenants' agents do not see it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Findings, Invariant};
use crate::history::{History, Mark, ShelfPut, ShelfRow};
use crate::names::Name;

pub(super) fn check(history: &History, findings: &mut Findings) {
    let mut items: BTreeMap<Name, Item<'_>> = BTreeMap::new();
    for put in &history.shelf_puts {
        items.entry(put.item).or_default().puts.push(put);
    }
    for row in &history.shelf_rows {
        items.entry(row.item).or_default().row = Some(row);
    }
    for (name, item) in &items {
        let over = history.quiesced.and_then(|_| item.wrong_at_the_end());
        if let Some(why) = item.wrong_with_versions().or(over) {
            findings
                .add(Invariant::Shelf, item.marks(), || format!("{} {why}", history.text(*name)));
        }
    }
    for leak in &history.shelf_leaks {
        findings.add(Invariant::NoMisdelivery, [leak.to.mark], || {
            let (item, agent) = (history.text(leak.item), history.text(leak.to.name));
            format!("{item} was shown to {agent}, whose tenant it is not of")
        });
    }
}

/// One item. It has one writer, who makes one request after the other.
#[derive(Default)]
struct Item<'h> {
    puts: Vec<&'h ShelfPut>,
    row: Option<&'h ShelfRow>,
}

impl Item<'_> {
    fn marks(&self) -> Vec<Mark> {
        let puts = self.puts.iter().map(|put| put.mark);
        let told = self.puts.iter().filter_map(|put| Some(put.version?.0));
        puts.chain(told).chain(self.row.map(|row| row.mark)).collect()
    }

    /// Returns the confirmed contents and their versions, in order. A repeated content counts once.
    fn known(&self) -> Vec<(Name, Name)> {
        let mut known: Vec<_> =
            self.puts.iter().filter_map(|put| Some((put.words, put.version?.1))).collect();
        known.dedup();
        known
    }

    /// Returns the contents whose result is unknown.
    fn in_doubt(&self) -> BTreeSet<Name> {
        let last = self.puts.iter().rposition(|put| put.version.is_some());
        let after = last.map_or(0, |last| last + 1);
        self.puts[after..].iter().map(|put| put.words).collect()
    }

    /// Checks that the version changes with the content, and only with it.
    fn wrong_with_versions(&self) -> Option<&'static str> {
        let known = self.known();
        known.windows(2).find_map(|pair| {
            let [(words, version), (new_words, new_version)] = pair else { return None };
            if words == new_words {
                return Some("has another version, and nothing was changed");
            }
            (version == new_version).then_some("was changed, and its version stays")
        })
    }

    fn wrong_at_the_end(&self) -> Option<&'static str> {
        let known = self.known();
        let (words, _) = known.last()?;
        let Some(row) = self.row else { return Some("was put, and nobody found it") };
        let Some(found) = row.words else { return Some("was put, and is not there") };
        let in_doubt = self.in_doubt();
        if found != *words && !in_doubt.contains(&found) {
            return Some("says something else than was put last");
        }
        let versions: Vec<Name> = known.iter().map(|(_, version)| *version).collect();
        let Some(more) = row.versions.strip_prefix(&*versions) else {
            return Some("has not become what was put, one after the other");
        };
        let new = in_doubt.iter().filter(|doubtful| *doubtful != words).count();
        (more.len() > new).then_some("has changed more often than somebody put it")
    }
}

#[cfg(test)]
mod tests {
    use crate::event::Event;
    use crate::tale::Tale;

    /// Alice's writes: contents, and the versions that she gets.
    type Puts<'a> = &'a [(&'a str, Option<&'a str>)];

    /// The final state: contents and versions.
    type Row<'a> = Option<(Option<&'a str>, &'a [&'a str])>;

    fn told(puts: Puts<'_>, row: Row<'_>) -> Tale {
        let mut tale = Tale::clean();
        let text = str::to_owned;
        for ((words, version), number) in puts.iter().zip(1..) {
            let request = format!("request-{number}");
            let (agent, item, words) = (text("alice"), text("skill"), text(words));
            tale.note(Event::ShelfPut { request: request.clone(), agent, item, words });
            tale.note(Event::ShelfAnswer { request, version: version.map(text) });
        }
        tale.note(Event::Quiesce);
        if let Some((words, versions)) = row {
            let versions = versions.iter().map(|version| text(version)).collect();
            tale.note(Event::ShelfRow { item: text("skill"), words: words.map(text), versions });
        }
        tale
    }

    #[test]
    fn what_was_put_is_there_and_its_versions_tell_how_it_came_to_be() {
        let (one, two) = (("one", Some("v1")), ("two", Some("v2")));
        let doubtful = ("two", None);
        let cases: [(&str, Puts<'_>, Row<'_>, &[&str]); 14] = [
            ("put", &[one], Some((Some("one"), &["v1"])), &[]),
            ("repeated", &[one, one], Some((Some("one"), &["v1"])), &[]),
            ("changed", &[one, two], Some((Some("two"), &["v1", "v2"])), &[]),
            ("and back", &[one, two, one], Some((Some("one"), &["v1", "v2", "v1"])), &[]),
            ("in doubt, not done", &[one, doubtful], Some((Some("one"), &["v1"])), &[]),
            ("in doubt, done", &[one, doubtful], Some((Some("two"), &["v1", "v2"])), &[]),
            ("tried twice", &[one, doubtful, two], Some((Some("two"), &["v1", "v2"])), &[]),
            ("never known", &[doubtful], Some((None, &[])), &[]),
            ("gone", &[one], Some((None, &[])), &["I26"]),
            ("not looked at", &[one], None, &["I26"]),
            ("as it was before", &[one, two], Some((Some("one"), &["v1", "v2"])), &["I26"]),
            ("no history", &[one, two], Some((Some("two"), &["v2"])), &["I26"]),
            ("twice", &[one, one], Some((Some("one"), &["v1", "v1"])), &["I26"]),
            ("same", &[one, ("two", Some("v1"))], Some((Some("two"), &["v1"])), &["I26"]),
        ];
        for (name, puts, row, want) in cases {
            assert_eq!(told(puts, row).broken_so_far(), want, "{name}");
        }
    }

    #[test]
    fn what_is_shown_to_another_tenant_is_found() {
        let mut tale = Tale::clean();
        tale.note(Event::ShelfLeak { agent: "carol".to_owned(), item: "skill".to_owned() });

        assert_eq!(tale.broken(), ["I3"]);
    }
}
