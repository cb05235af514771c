//! Configurations that are damaged or wrong: each is refused, or is a whole one without a default secret.

use std::time::{Duration, Instant};

use nightdesk_fuzz::Corpus;

use super::*;

/// The smallest configuration.
const SMALLEST: &str =
    "[database]\nurl = \"postgres://a@127.0.0.1/b\"\n[vault]\nkey_file = \"k\"\n";

/// Number from which all mutations follow.
const NUMBER: u64 = 0x636f_6e66_6967;

/// Mutations, unless the time is over before.
const MUTATIONS: usize = 20_000;

/// Time for the mutations.
const REPLAY_MAX: Duration = Duration::from_secs(10);

/// Words that change the meaning of a file.
const WORDS: [&str; 12] = [
    "key_file = ",
    "key_command = ",
    "password",
    "postgres://a:b@c/d",
    "redis://a:b@c",
    "0.0.0.0:80",
    "[vault]\n",
    "[[issuers]]\n",
    "[[ways]]\n",
    "\"\"",
    "in-front",
    "= {}",
];

fn read(text: &str) -> anyhow::Result<Config> {
    let file = config::File::from_str(text, config::FileFormat::Toml);
    let config: Config = config::Config::builder().add_source(file).build()?.try_deserialize()?;
    config.validate()?;
    Ok(config)
}

// Z24
#[test]
fn a_damaged_file_is_refused_or_leaves_no_secret_to_a_default() {
    let corpus = Corpus::new(
        [example(), SMALLEST].map(|text| text.as_bytes().to_vec()).to_vec(),
        WORDS.map(|word| word.as_bytes().to_vec()).to_vec(),
    );
    assert!(read(SMALLEST).is_ok(), "the smallest configuration is whole");
    let began = Instant::now();
    let mutations = corpus.mutations(NUMBER).take(MUTATIONS);
    for input in mutations.take_while(|_| began.elapsed() < REPLAY_MAX) {
        let text = String::from_utf8_lossy(&input);
        match read(&text) {
            Ok(config) => check_accepted(&config, &text),
            Err(error) => assert!(!format!("{error:#}").trim().is_empty(), "{text}"),
        }
    }
}

fn check_accepted(config: &Config, text: &str) {
    let Config { vault, listen, node, database, .. } = config;
    let sources = [vault.key_file.is_some(), !vault.key_command.is_empty()];
    assert_eq!(sources.iter().filter(|is_set| **is_set).count(), 1, "one source of keys: {text}");
    assert!(!node.name.is_empty(), "{text}");
    assert!(listen.tls.is_some() || listen.address.ip().to_canonical().is_loopback(), "{text}");
    let user = database.url.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
    assert!(user.is_none_or(|(user, _)| !user.contains(':')), "a password in a URL: {text}");
}

/// Returns the lines of the page's example that set a key, by their numbers.
fn settings() -> Vec<(usize, &'static str)> {
    let lines = example().lines().enumerate();
    let key = |line: &'static str| line.split_once(" = ").map(|(key, _)| key);
    lines
        .filter(|(_, line)| !line.starts_with('#'))
        .filter_map(|(at, line)| Some((at, key(line)?)))
        .collect()
}

/// Returns the example with one line replaced.
fn with_line(at: usize, replacement: &str) -> String {
    let lines = example().lines().enumerate();
    let lines = lines.map(|(line, text)| if line == at { replacement } else { text });
    lines.collect::<Vec<_>>().join("\n")
}

/// Replaces the line of each key. The configuration is refused, and the error names the key.
fn refuses_each_key(replacement: impl Fn(&str) -> String) {
    for (at, key) in settings() {
        let error = read(&with_line(at, &replacement(key))).expect_err(key);
        assert!(format!("{error:#}").contains(key), "{key}: {error:#}");
    }
}

#[test]
fn a_value_of_another_type_is_refused_by_its_key() {
    refuses_each_key(|key| format!("{key} = [[{{ odd = 1 }}]]"));
}

#[test]
fn an_unknown_key_is_refused_by_its_name() {
    refuses_each_key(|key| format!("{key}_ = 1"));
}
