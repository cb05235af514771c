//! Reads the shelves at the end: their items, the items' versions, and that foreign tenants cannot see them.

use std::time::Duration;

use anyhow::{Result, bail};
use futures_util::{StreamExt, TryStreamExt, stream};
use nightdesk_judge::Event;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::Diary;
use super::put::{Item, Kind, member_of};
use crate::chaos::asking::Heard;
use crate::chaos::plan::Plan;

/// Items read at the same time.
const AT_ONCE: usize = 8;

/// Number of attempts for a request, and the interval between them.
const TRIES: usize = 100;
const TRY_EVERY: Duration = Duration::from_millis(300);

/// Entries on a page.
const PAGE: usize = 100;

/// Reads every item, as its writer and as a stranger, and the lists of each writer.
pub(super) async fn look(diary: &Diary) -> Result<()> {
    let items = diary.items().clone();
    let looks = items.iter().map(|item| looked_at(diary, item));
    stream::iter(looks).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    let writers = diary.plan.letters.iter().map(|writer| listed(diary, writer.member));
    stream::iter(writers).buffer_unordered(AT_ONCE).try_collect::<()>().await
}

async fn looked_at(diary: &Diary, item: &Item) -> Result<()> {
    let (words, versions) = match &item.kind {
        Kind::Skill => skill(diary, item).await?,
        Kind::Data(Some(id)) => data(diary, item, id).await?,
        // The id is unknown, if the data exists.
        Kind::Data(None) => return Ok(()),
    };
    diary.notes.note(Event::ShelfRow { item: item.name.clone(), words, versions });
    pried(diary, item).await
}

/// Returns a skill's text and its versions, the oldest first.
async fn skill(diary: &Diary, item: &Item) -> Result<(Option<String>, Vec<String>)> {
    let path = format!("/v1/skills/{}", item.name);
    let Some(read) = asked(diary, item.member, (&path, None)).await? else {
        return Ok((None, Vec::new()));
    };
    let became = asked(diary, item.member, (&format!("{path}/versions"), None)).await?;
    let mut versions = texts(&became.unwrap_or_default(), "version");
    versions.reverse();
    Ok((read["source"].as_str().map(str::to_owned), versions))
}

/// Returns the data's text, and the ids of everything found by its name.
async fn data(diary: &Diary, item: &Item, id: &str) -> Result<(Option<String>, Vec<String>)> {
    let read = asked(diary, item.member, (&format!("/v1/data/{id}"), None)).await?;
    let words = read.and_then(|read| read["detail"].as_str().map(str::to_owned));
    Ok((words, texts(&found(diary, item.member, &item.name).await?, "id")))
}

async fn found(diary: &Diary, member: usize, words: &str) -> Result<Value> {
    let query = json!({ "query": words, "limit": PAGE });
    let found = asked(diary, member, ("/v1/data/query", Some(&query))).await?;
    Ok(found.map(|mut found| found["items"].take()).unwrap_or_default())
}

fn texts(list: &Value, key: &str) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|one| one[key].as_str().map(str::to_owned)).collect()
}

/// Requests the item by its name as a member of another tenant.
async fn pried(diary: &Diary, item: &Item) -> Result<()> {
    let members = &diary.plan.cast.members;
    let is_foreign = |other: &usize| members[*other].tenant != members[item.member].tenant;
    let Some(stranger) =
        (0..members.len()).map(|step| (item.member + step) % members.len()).find(is_foreign)
    else {
        return Ok(());
    };
    let (path, by_words) = match &item.kind {
        Kind::Skill => (format!("/v1/skills/{}", item.name), false),
        Kind::Data(id) => (format!("/v1/data/{}", id.as_deref().unwrap_or_default()), true),
    };
    let is_shown = asked(diary, stranger, (&path, None)).await?.is_some()
        || by_words && !texts(&found(diary, stranger, &item.name).await?, "id").is_empty();
    if is_shown {
        leaks(diary, stranger, item.name.clone());
    }
    Ok(())
}

/// Checks that everything a member is shown without a query belongs to its tenant.
async fn listed(diary: &Diary, member: usize) -> Result<()> {
    let skills = asked(diary, member, ("/v1/skills?audience=all&status=Draft", None)).await?;
    let skills = skills.unwrap_or_default();
    let groups = ["receives", "skills", "headless"];
    let skills = groups.iter().flat_map(|group| texts(&skills[*group], "name"));
    let data = texts(&found(diary, member, "").await?, "summary");
    let tenant = |member: usize| diary.plan.cast.members.get(member).map(|member| member.tenant);
    for name in skills.chain(data) {
        if member_of(&name).and_then(tenant) != tenant(member) {
            leaks(diary, member, name);
        }
    }
    Ok(())
}

fn leaks(diary: &Diary, member: usize, item: String) {
    diary.notes.note(Event::ShelfLeak { agent: Plan::agent(member), item });
}

/// Repeats a request until the answer is clear. Returns `None` if there is no such item.
async fn asked(
    diary: &Diary,
    member: usize,
    request: (&str, Option<&Value>),
) -> Result<Option<Value>> {
    for nth in 0..TRIES {
        let node = diary.plan.nodes[(member + nth) % diary.plan.nodes.len()];
        match diary.ask(node, member, request).await {
            Heard::Answer(200, said) => return Ok(Some(said)),
            Heard::Answer(404, _) => return Ok(None),
            Heard::Nobody | Heard::Nothing | Heard::Answer(..) => sleep(TRY_EVERY).await,
        }
    }
    bail!("no node says what is at {}", request.0)
}
