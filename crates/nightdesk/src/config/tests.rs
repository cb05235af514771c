//! The configuration page documents every key.

use super::*;

mod hostile;

const PAGE: &str = include_str!("../../../../docs/running.md");

fn example() -> &'static str {
    let block = PAGE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    block.expect("the page has an example")
}

fn the_page_has_every_way(ways: &[WaySection]) {
    let [hook, drop, tmux, inbox] = ways else { panic!("four ways") };
    assert!(inbox.inbox);
    assert_eq!(hook.secret_files().count(), 2);
    assert!(drop.file_drop.is_some() && tmux.tmux.is_some());
    let hook = hook.webhook.as_ref().unwrap();
    assert!(hook.wake_url.is_some() && hook.status_url.is_some());
}

fn the_page_has_every_rule_of_calls(config: &Config) {
    let outside = &config.outside;
    assert!(!outside.hosts.is_empty() && !outside.ranges.is_empty() && outside.http);
    assert!(!outside.ports.is_empty() && !outside.own.is_empty() && !outside.rates.is_empty());
    assert!(outside.root_certificate_file.is_some() && outside.nameserver.is_some());
}

fn the_page_has_every_setting_of_alerts(config: &Config) {
    let mail = config.mail.as_ref().unwrap();
    assert!(mail.port.is_some() && mail.user.is_some() && mail.password_file.is_some());
    assert!(mail.root_certificate_file.is_some() && !config.alerts.folders.is_empty());
}

fn the_page_has_every_setting_of_logins(logins: &[LoginSection]) {
    let [login] = logins else { panic!("one login") };
    assert!(login.label.is_some() && login.client_secret_file.is_some());
    assert!(!login.scopes.is_empty() && !login.roles.is_empty());
}

#[test]
fn the_page_has_every_key_and_no_other() {
    let built = config::Config::builder()
        .add_source(config::File::from_str(example(), config::FileFormat::Toml))
        .build()
        .unwrap();
    let config: Config = built.try_deserialize().unwrap();

    config.validate().unwrap();
    assert_eq!(config.issuer.ambient.len(), 1);
    // An optional key that the page omits is `None` or empty here; a required key has no default.
    let Config { listen, database, redis, vault, metrics, traces, wake, audit, .. } = &config;
    assert!(listen.public_url.is_some() && listen.tls_files().is_some());
    assert!(!listen.trusted_proxies.is_empty());
    assert!(database.password_file.is_some());
    assert!(database.migrate_url.is_some() && database.migrate_password_file.is_some());
    assert!(redis.as_ref().is_some_and(|redis| redis.password_file.is_some()));
    assert!(metrics.address.is_some() && traces.otlp_url.is_some());
    assert!(!wake.command.is_empty() && audit.anchor_file.is_some());
    assert!(!vault.old_key_files.is_empty() && config.erasure.list_file.is_some());
    the_page_has_every_rule_of_calls(&config);
    the_page_has_every_setting_of_alerts(&config);
    let [by_url, by_file] = config.issuers.as_slice() else { panic!("two issuers") };
    assert!(by_url.jwks_url.is_some() && by_file.jwks_file.is_some());
    the_page_has_every_setting_of_logins(&config.logins);
    the_page_has_every_way(&config.ways);
    for key in [
        "plaintext = ",
        "[telegram]\n",
        "api_url = ",
        "key_file = ",
        "key_command = ",
        "[issuer]\n",
        "algorithm = ",
        "agent_by = ",
        "[node]\n",
        "name = ",
        "[log]\n",
        "format = ",
        "filter = ",
        "per_hour = ",
        "still_waking_after = ",
        "disk_free_mib = ",
        "tls = \"full\"",
        "webhooks_per_second = ",
        "author_per_minute = ",
    ] {
        assert!(example().contains(key), "{key}");
    }
}

#[test]
fn an_ambient_endpoint_is_on_the_loopback_or_refused() {
    let validated = |address: &str| {
        let ambient = AmbientSection {
            address: address.parse().unwrap(),
            tenant: "acme".to_owned(),
            agent: "helper".to_owned(),
        };
        IssuingSection { ambient: vec![ambient], ..IssuingSection::default() }.validate()
    };

    for good in ["127.0.0.1:8810", "127.1.2.3:8810", "[::1]:8810"] {
        assert!(validated(good).is_ok(), "{good}");
    }
    for bad in ["0.0.0.0:8810", "[::]:8810", "192.0.2.1:8810", "[2001:db8::1]:8810"] {
        let why = validated(bad).expect_err(bad).to_string();
        assert!(why.contains("loopback"), "{bad}: {why}");
    }
}
