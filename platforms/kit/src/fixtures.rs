//! Helpers for the tests of adapters: fixtures as values, and fixtures with one value replaced.
#![expect(clippy::expect_used, clippy::missing_panics_doc, reason = "only tests call it")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use nightdesk_port::ReceiveError;
use nightdesk_types::Event;
use nightdesk_types::event::Draft;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The fixtures of an adapter, by name.
#[derive(Debug)]
pub struct Fixtures(BTreeMap<String, Value>);

impl Fixtures {
    /// Reads all files of the folder `fixtures` in the adapter's own folder, in which its tests run.
    pub fn read() -> Self {
        let files = Path::new("fixtures").read_dir().expect("a folder of fixtures");
        let fixture = |path: &Path| {
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
            let text = std::fs::read(path).expect("a readable file");
            (name.to_owned(), serde_json::from_slice(&text).expect("fixtures are JSON"))
        };
        Self(files.map(|file| fixture(&file.expect("a file").path())).collect())
    }

    /// Returns the names of all fixtures.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the fixture of this name.
    pub fn get(&self, name: &str) -> Value {
        self.0.get(name).expect("a fixture of that name").clone()
    }

    /// Returns the event of every fixture, without empty values, so that a snapshot is readable.
    pub fn events(
        &self,
        read: impl Fn(&Value) -> Result<Option<Draft>, ReceiveError>,
    ) -> BTreeMap<&str, Value> {
        let event = |fixture: &Value| {
            let draft = read(fixture).expect("fixtures can be read");
            let event = draft.map(|draft| Event::normalise(draft).expect("clients can take it"));
            without_void(serde_json::to_value(event).expect("events are JSON"))
        };
        self.0.iter().map(|(name, fixture)| (name.as_str(), event(fixture))).collect()
    }

    /// Generates a fixture with one value replaced, at or below this JSON pointer.
    pub fn generate_bent(&'static self, below: &'static str) -> impl Strategy<Value = Value> {
        let fixtures: Vec<&Value> = self.0.values().collect();
        (prop::sample::select(fixtures), any::<prop::sample::Index>(), any_json()).prop_map(
            move |(fixture, at, odd)| {
                let mut places = Vec::new();
                let root = fixture.pointer(below).expect("every fixture has it");
                walk(root, below.to_owned(), &mut places);
                let mut bent = fixture.clone();
                if let Some(place) = bent.pointer_mut(&places[at.index(places.len())]) {
                    *place = odd;
                }
                bent
            },
        )
    }
}

/// A text that pretends nothing. It is long, so that the ranges of commands and mentions lie within it.
const PLAIN_TEXT: &str = "a plain text that says nothing in particular and goes on for a while";

impl Fixtures {
    /// Replaces each text that people write, by a hostile and by a plain one, and returns the fields of the events that
    /// differ. Fields with these names are written by people.
    pub fn fields_with_texts(
        &self,
        written: &[&str],
        hostile: &[String],
        read: impl Fn(&Value) -> Result<Option<Draft>, ReceiveError>,
    ) -> BTreeSet<String> {
        let mut differing = BTreeSet::new();
        for (fixture, place) in self.places_of_texts(written) {
            let event = |text: &str| {
                let mut told = fixture.clone();
                *told.pointer_mut(&place).expect("a place of the fixture") = json!(text);
                let event = read(&told).ok().flatten().map(Event::normalise);
                json!(event.map(|event| event.expect("clients can take it")))
            };
            let plain = event(PLAIN_TEXT);
            for text in hostile {
                collect_differences(&plain, &event(text), "", &mut differing);
            }
        }
        differing
    }

    fn places_of_texts(&self, written: &[&str]) -> Vec<(&Value, String)> {
        let mut found = Vec::new();
        for fixture in self.0.values() {
            let mut places = Vec::new();
            walk(fixture, String::new(), &mut places);
            let is_text = |place: &String| {
                let name = place.rsplit('/').next().unwrap_or_default();
                written.contains(&name) && fixture.pointer(place).is_some_and(Value::is_string)
            };
            found.extend(places.into_iter().filter(is_text).map(|place| (fixture, place)));
        }
        found
    }
}

/// Collects the names of fields that differ. All items of a list have one name.
fn collect_differences(one: &Value, other: &Value, at: &str, found: &mut BTreeSet<String>) {
    match (one, other) {
        (Value::Object(fields), Value::Object(others)) => {
            for name in fields.keys().chain(others.keys()).collect::<BTreeSet<_>>() {
                let value = |fields: &serde_json::Map<String, Value>| {
                    fields.get(name).cloned().unwrap_or_default()
                };
                let below = format!("{at}/{name}");
                collect_differences(&value(fields), &value(others), &below, found);
            }
        }
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            for (item, other) in items.iter().zip(others) {
                collect_differences(item, other, &format!("{at}/-"), found);
            }
        }
        (one, other) if one == other => {}
        _ => {
            found.insert(at.to_owned());
        }
    }
}

/// Removes empty values.
fn without_void(value: Value) -> Value {
    let is_void = |value: &Value| {
        value.is_null() || *value == json!(false) || *value == json!([]) || *value == json!({})
    };
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| (name, without_void(value)));
            fields.filter(|(_, value)| !is_void(value)).collect()
        }
        Value::Array(items) => items.into_iter().map(without_void).collect(),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
    }
}

/// Generates JSON of limited depth. Some platforms write ids as numbers, others as strings.
fn any_json() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        any::<u64>().prop_map(|id| Value::from(id.to_string())),
    ];
    plain.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn walk(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| walk(value, format!("{at}/{name}"), places));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(i, value)| walk(value, format!("{at}/{i}"), places));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    places.push(at);
}
