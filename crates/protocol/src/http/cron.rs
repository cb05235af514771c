//! `/api/agent-cron/*`: an agent has its one-shots kept for it.
//!
//! A time is text here: the agent compares what it sent with what it is told, byte by byte,
//! and arms anew on any difference.

use std::ops::Not;

use serde::{Deserialize, Deserializer, Serialize};

use crate::tolerant;

/// `POST …/provision`: arms a job for its next time, or moves it there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronProvision))]
pub struct Provision {
    /// The agent's name for the job.
    pub job_id: String,
    /// When it is due, as the agent wrote it.
    pub fire_at: String,
    /// Where the agent is called then. Without it, the fire comes through its inbox.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub agent_callback_url: Option<String>,
    /// By what a repeat is recognised. A job has one time, so it is not needed.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub dedup_key: String,
    /// What the agent is told through its inbox.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// Whether it is armed again after each fire. If it is not, its owner is told.
    #[serde(default, deserialize_with = "tolerant::truth", skip_serializing_if = "Not::not")]
    pub recurring: bool,
    /// Whether the agent says when a run is over, by [`Done`].
    #[serde(default, deserialize_with = "tolerant::truth", skip_serializing_if = "Not::not")]
    pub reports: bool,
    /// What becomes of a fire while the run before is not over: `skip`, `buffer_one`, `allow_all`.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub overlap: Option<String>,
    /// How late a fire may begin.
    #[serde(
        default,
        deserialize_with = "tolerant::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub catch_up_seconds: Option<u64>,
    /// By how much it may be put off, so that agents do not all come at once.
    #[serde(
        default,
        deserialize_with = "tolerant::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub jitter_seconds: Option<u64>,
}

/// The answer to [`Provision`]. Clients ignore it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronProvisioned))]
pub struct Provisioned {
    /// Our name for it.
    pub schedule_id: String,
}

/// `POST …/cancel`: forgets a job. That it is not known is no error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronCancel))]
pub struct Cancel {
    /// The agent's name for the job.
    pub job_id: String,
}

/// The answer to [`Cancel`]. Clients look at the status alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronCancelled))]
pub struct Cancelled {
    /// Always.
    pub ok: bool,
    /// `cancelled`: the agent is not told of it any more. `too_late`: it is just being told.
    /// `unknown`: no such job was armed.
    pub outcome: String,
}

/// `POST …/done`: a run is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronDone))]
pub struct Done {
    /// Which fire it was of: the `jti` of its token.
    pub fire_id: String,
    /// Whether it went well.
    #[serde(default, deserialize_with = "tolerant::truth")]
    pub ok: bool,
    /// What else is to be known of it.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `POST …/relay`: a scheduler of the operator's says that a job is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronRelay))]
pub struct Relay {
    /// Whose agent it is.
    pub tenant: String,
    /// The agent.
    pub agent_id: String,
    /// Its name for the job.
    pub job_id: String,
}

/// The answer to [`Relay`], if there is nothing left to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronRelayed))]
pub struct Relayed {
    /// `done`: the agent took it, or there is nothing to tell it.
    pub status: String,
}

/// The answer to `GET …/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronList))]
pub struct List {
    /// Every job that is armed.
    #[serde(default, deserialize_with = "named")]
    pub armed: Vec<Armed>,
}

/// Every job that has a name.
fn named<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Armed>, D::Error> {
    let mut armed: Vec<Armed> = tolerant::objects(from)?;
    armed.retain(|job| !job.job_id.is_empty());
    Ok(armed)
}

/// A job that is armed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronArmed))]
pub struct Armed {
    /// The agent's name for the job.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub job_id: String,
    /// When it is due, as the agent wrote it.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub fire_at: String,
    /// Our name for it.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub schedule_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_given_back_byte_for_byte() {
        let fire_at = "2026-11-14T23:49:13.961760+00:00";
        let armed = Armed {
            job_id: "d43b5e05b613".to_owned(),
            fire_at: fire_at.to_owned(),
            schedule_id: "s1".to_owned(),
        };
        let body = serde_json::to_string(&List { armed: vec![armed] }).unwrap();

        assert!(body.contains(fire_at));
        assert_eq!(serde_json::from_str::<List>(&body).unwrap().armed[0].fire_at, fire_at);
    }

    #[test]
    fn a_list_of_another_shape_is_empty() {
        for json in ["{}", r#"{"armed":null}"#, r#"{"armed":[7,{"fire_at":"x"}]}"#] {
            assert_eq!(serde_json::from_str::<List>(json).unwrap(), List::default(), "{json}");
        }
    }
}
