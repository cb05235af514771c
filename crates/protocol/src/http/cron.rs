//! `/api/agent-cron/*`: the desk stores one-shot jobs for an agent.
//!
//! A time is text here: the agent compares the returned text byte by byte with the text that it sent, and arms the job
//! again on any difference.

use std::ops::Not;

use serde::{Deserialize, Deserializer, Serialize};

use crate::tolerant;

/// `POST …/provision`: arms a job for its next time, or moves it there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronProvision))]
pub struct CronProvisionRequest {
    /// The agent's id of the job.
    pub job_id: String,
    /// The due time, as the agent wrote it.
    pub fire_at: String,
    /// The URL that is called at that time. Without it, the fire goes through the agent's inbox.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub agent_callback_url: Option<String>,
    /// A key that identifies a repeat. It is not needed, because a job has one time.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub dedup_key: String,
    /// The message to the agent, if the fire goes through its inbox.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// True if the agent arms the job again after each fire. If it does not, its owner gets a notice.
    #[serde(default, deserialize_with = "tolerant::truth", skip_serializing_if = "Not::not")]
    pub recurring: bool,
    /// True if the agent reports the end of a run with [`CronDoneRequest`].
    #[serde(default, deserialize_with = "tolerant::truth", skip_serializing_if = "Not::not")]
    pub reports: bool,
    /// The rule for a fire while the previous run is not over: `skip`, `buffer_one`, `allow_all`.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub overlap: Option<String>,
    /// The longest delay with which a fire may begin.
    #[serde(
        default,
        deserialize_with = "tolerant::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub catch_up_seconds: Option<u64>,
    /// The longest random delay, so that agents do not all fire at once.
    #[serde(
        default,
        deserialize_with = "tolerant::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub jitter_seconds: Option<u64>,
}

/// The response to [`CronProvisionRequest`]. Clients ignore it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronProvisioned))]
pub struct CronProvisionResponse {
    /// The desk's id of the job.
    pub schedule_id: String,
}

/// `POST …/cancel`: removes a job. An unknown job is not an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronCancel))]
pub struct CronCancelRequest {
    /// The agent's id of the job.
    pub job_id: String,
}

/// The response to [`CronCancelRequest`]. Clients read only the status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronCancelled))]
pub struct CronCancelResponse {
    /// Always true.
    pub ok: bool,
    /// `cancelled`: the job will not fire. `too_late`: the fire is being delivered. `unknown`: no such job was armed.
    pub outcome: String,
}

/// `POST …/done`: reports the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronDone))]
pub struct CronDoneRequest {
    /// The fire of the run: the `jti` of its token.
    pub fire_id: String,
    /// True if the run succeeded.
    #[serde(default, deserialize_with = "tolerant::truth")]
    pub ok: bool,
    /// Further information.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `POST …/relay`: an external scheduler of the operator reports that a job is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronRelay))]
pub struct CronRelayRequest {
    /// The tenant of the agent.
    pub tenant: String,
    /// The agent.
    pub agent_id: String,
    /// The agent's id of the job.
    pub job_id: String,
}

/// The response to [`CronRelayRequest`], if no work is left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronRelayed))]
pub struct CronRelayResponse {
    /// `done`: the agent took the fire, or there is nothing to deliver.
    pub status: String,
}

/// The response to `GET …/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronList))]
pub struct CronListResponse {
    /// The armed jobs.
    #[serde(default, deserialize_with = "read_named_jobs")]
    pub armed: Vec<ArmedCronJob>,
}

/// Reads the jobs that have an id.
fn read_named_jobs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<ArmedCronJob>, D::Error> {
    let mut armed: Vec<ArmedCronJob> = tolerant::objects(from)?;
    armed.retain(|job| !job.job_id.is_empty());
    Ok(armed)
}

/// An armed job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CronArmed))]
pub struct ArmedCronJob {
    /// The agent's id of the job.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub job_id: String,
    /// The due time, as the agent wrote it.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub fire_at: String,
    /// The desk's id of the job.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub schedule_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_given_back_byte_for_byte() {
        let fire_at = "2026-11-14T23:49:13.961760+00:00";
        let armed = ArmedCronJob {
            job_id: "d43b5e05b613".to_owned(),
            fire_at: fire_at.to_owned(),
            schedule_id: "s1".to_owned(),
        };
        let body = serde_json::to_string(&CronListResponse { armed: vec![armed] }).unwrap();

        assert!(body.contains(fire_at));
        assert_eq!(
            serde_json::from_str::<CronListResponse>(&body).unwrap().armed[0].fire_at,
            fire_at
        );
    }

    #[test]
    fn a_list_of_another_shape_is_empty() {
        for json in ["{}", r#"{"armed":null}"#, r#"{"armed":[7,{"fire_at":"x"}]}"#] {
            assert_eq!(
                serde_json::from_str::<CronListResponse>(json).unwrap(),
                CronListResponse::default(),
                "{json}"
            );
        }
    }
}
