//! `/api/agent-cron/*`: an agent has its one-shots kept for it.
//!
//! A time is text here: the agent compares what it sent with what it is told, byte by byte,
//! and arms anew on any difference.

use serde::{Deserialize, Deserializer, Serialize};

use crate::tolerant;

/// `POST …/provision`: arms a job for its next time, or moves it there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provision {
    /// The agent's name for the job.
    pub job_id: String,
    /// When it is due, as the agent wrote it.
    pub fire_at: String,
    /// Where the agent is called then.
    pub agent_callback_url: String,
    /// By what a repeat is recognised.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub dedup_key: String,
}

/// The answer to [`Provision`]. Clients ignore it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provisioned {
    /// Our name for it.
    pub schedule_id: String,
}

/// `POST …/cancel`: forgets a job. That it is not known is no error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancel {
    /// The agent's name for the job.
    pub job_id: String,
}

/// The answer to `GET …/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
