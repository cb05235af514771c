//! Asks the desk a question over its public URL, to find out whether that URL leads to it.

use anyhow::Context;
use nightdesk_office::{DeskQuestionKey, DoctorFinding};
use nightdesk_outside::{CallResponse, Outside, Rules, TenantUrl};
use nightdesk_types::{Clock as _, SystemClock};
use reqwest::Url;

use super::decide::{PublicUrlResponse, judge_public_url};
use super::{public_host, within};
use crate::config::Config;

/// Sends a question to the public URL, and judges the response.
pub(super) async fn examine(config: &Config, key: &DeskQuestionKey) -> DoctorFinding {
    let host = public_host(config).unwrap_or_default();
    let question = key.create_question(SystemClock::start().now());
    let response = match within(ask(config, &host, &question)).await {
        Ok(CallResponse { status: 200, body, .. }) if key.is_answer(&question, &body) => {
            PublicUrlResponse::Own
        }
        Ok(CallResponse { status, .. }) => PublicUrlResponse::Foreign(status),
        Err(error) => PublicUrlResponse::Missing(format!("{error:#}")),
    };
    judge_public_url(&config.public_url(), &host, &response)
}

/// Makes the request with the client for URLs of tenants: it follows no redirect and reads little. The operator's own URL
/// may be at any address.
async fn ask(config: &Config, host: &str, question: &str) -> anyhow::Result<CallResponse> {
    let public_url = config.public_url();
    let client = Outside::new(rules(config, &public_url, host)?)?;
    let url = TenantUrl::parse(&format!("{public_url}/healthz/{question}"), client.rules())?;
    Ok(client.get_document(&url).await?)
}

fn rules(config: &Config, public_url: &str, host: &str) -> anyhow::Result<Rules> {
    let url = Url::parse(public_url).context("listen.public_url is not a URL")?;
    Ok(Rules {
        hosts: vec![host.to_owned()],
        http: url.scheme() == "http",
        ports: url.port().into_iter().collect(),
        root_certificate_file: config.outside.root_certificate_file.clone(),
        nameserver: config.outside.nameserver,
        ..Rules::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_url_may_be_called_wherever_it_leads() {
        let config = |public_url: &str| {
            let mut config = Config::for_trial(([127, 0, 0, 1], 8800).into(), 5432, "postgres");
            config.listen.public_url = Some(public_url.to_owned());
            config
        };
        let cases = [
            "https://desk.example.org",
            "https://desk.example.org:8443/base/",
            "http://127.0.0.1:8800",
            "https://10.0.0.7",
            "https://[2001:db8::1]:8443",
            "http://localhost:8800",
            "http://desk",
        ];
        for url in cases {
            let config = config(url);
            let host = public_host(&config).expect(url);
            let rules = rules(&config, &config.public_url(), &host).expect(url);
            let target = format!("{}/healthz/0", config.public_url());

            assert!(TenantUrl::parse(&target, &rules).is_ok(), "{url}");
            let elsewhere = TenantUrl::parse("https://other.example.org:9443", &rules);
            assert!(elsewhere.is_err(), "{url}");
        }
    }
}
