//! Builds the trusted issuers and fetches their keys.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_outside::{Outside, TenantUrl};
use nightdesk_register::issuers::{FetchKeys, KeySource};
use nightdesk_register::{Issuer, Issuers};
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::ISSUER_KEYS_BYTES_MAX;
use nightdesk_vault::Vault;
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio_util::task::TaskTracker;

use crate::config::{Config, trusted_issuers};

/// Returns the desk's own issuer and the configured ones.
pub(crate) fn issuers(
    config: &Config,
    pg: &Arc<Pg>,
    vault: Vault,
    outside: Outside,
    tasks: &TaskTracker,
) -> anyhow::Result<Issuers> {
    let others = trusted_issuers(&config.issuers, &config.public_url())?;
    let fetch = key_fetcher(outside);
    Ok(Issuers::only_own(own_issuer(config, pg, vault)).trusting(others, &fetch, tasks))
}

/// Returns the desk's own issuer.
pub(crate) fn own_issuer(config: &Config, pg: &Arc<Pg>, vault: Vault) -> Issuer {
    let issuer = Issuer::new(Arc::<Pg>::clone(pg), vault, config.public_url());
    issuer.with_algorithm(config.issuer.algorithm.into())
}

/// Returns the port that fetches the keys of issuers.
pub(crate) fn key_fetcher(outside: Outside) -> Arc<dyn FetchKeys> {
    Arc::new(KeyFetcher(outside))
}

/// Fetches keys through the guarded client, or from a file.
struct KeyFetcher(Outside);

#[async_trait]
impl FetchKeys for KeyFetcher {
    async fn fetch(&self, from: &KeySource) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        match from {
            KeySource::Url(url) => {
                let reply = self.0.get_document(&TenantUrl::parse(url, self.0.rules())?).await?;
                if reply.status == 200 {
                    Ok(reply.body.to_vec())
                } else {
                    Err(format!("the response has status {}", reply.status).into())
                }
            }
            KeySource::File(file) => {
                let mut keys = Vec::new();
                let bytes_max = u64::try_from(ISSUER_KEYS_BYTES_MAX)?;
                File::open(file).await?.take(bytes_max + 1).read_to_end(&mut keys).await?;
                if keys.len() > ISSUER_KEYS_BYTES_MAX {
                    return Err(
                        format!("the file is longer than {ISSUER_KEYS_BYTES_MAX} bytes").into()
                    );
                }
                Ok(keys)
            }
        }
    }
}
