//! The suite of a store of skills.

mod upstream;
mod bytes;
mod history;
mod looking;
mod approving;

use nightdesk_shelf::{SkillPatch, SkillStatus};

use super::{Report, SkillHarness, cases};

/// Runs all cases of a store of skills.
#[expect(clippy::cognitive_complexity, reason = "a list, of one call each")]
pub async fn skill_store<H: SkillHarness>(harness: &H) -> Report {
    cases!(
        harness,
        upstream::is_of_its_contract,
        upstream::names_itself_and_its_contract,
        upstream::says_what_it_can_do,
        upstream::says_so_without_a_store,
        upstream::load_is_there,
        upstream::query_is_there,
        upstream::metadata_is_there,
        upstream::versions_is_there,
        upstream::store_is_there,
        upstream::delete_is_there,
        upstream::update_status_is_there,
        upstream::manifest_is_there,
        upstream::an_empty_store_has_no_skills,
        upstream::a_store_says_what_was_stored,
        upstream::what_was_stored_is_loaded,
        upstream::a_missing_skill_is_not_loaded,
        upstream::a_missing_skill_is_not_deleted,
        upstream::what_is_missing_is_said_in_the_words_of_the_contract,
        upstream::a_change_of_status_says_what_it_was,
        upstream::a_status_is_told_from_another,
        bytes::the_digest_is_of_the_bytes_as_kept,
        bytes::no_byte_is_changed,
        bytes::a_status_is_in_the_bytes,
        bytes::a_name_is_plain,
        bytes::a_skill_has_a_bound,
        bytes::what_is_not_set_is_left_out,
        bytes::the_header_is_read,
        history::what_it_said_before_can_be_read,
        history::a_version_that_never_was_is_not_found,
        history::what_is_missing_has_no_past,
        history::the_same_again_changes_nothing,
        history::a_deleted_name_begins_anew,
        history::the_token_moves_with_every_change,
        history::the_token_stays_when_nothing_changes,
        history::the_token_moves_when_only_bytes_do,
        history::a_skill_stays_its_first_authors,
        history::an_author_who_is_not_named_is_kept,
        history::an_overwrite_stores_the_bytes_as_handed,
        history::a_patch_decides_the_status,
        history::changes_at_once_are_all_kept,
        looking::every_filter_counts,
        looking::a_page_needs_no_length,
        looking::an_unknown_word_is_not_looked_at,
        looking::a_pattern_that_is_none_is_refused,
        looking::the_catalogue_is_grouped,
        looking::the_catalogue_is_not_told_twice,
        looking::another_filter_is_another_catalogue,
        looking::who_mentions_a_skill_is_found,
        approving::an_approval_without_a_signature_is_a_draft,
        approving::nobody_approves_without_a_signature,
        approving::a_signature_is_kept,
        approving::an_edit_ends_an_approval,
        approving::tags_may_change_without_a_signature,
        approving::what_was_disabled_is_signed_again,
        approving::the_vector_of_the_runtime_is_approved,
    )
}

/// The sample of the runtime's own suite: a lower-case status, and a name that differs from the file's.
const SAMPLE: &str = "# Skill: sample\n# Status: draft\n# Description: a sample\n\nt:\n    emit(text=\"hi\")\ndefault: t\n";

const NONE: SkillPatch =
    SkillPatch { status: None, author: None, metadata_bag: None, only_new: false };

fn by(author: &str) -> SkillPatch {
    SkillPatch { author: Some(author.to_owned()), ..NONE }
}

fn as_status(status: SkillStatus) -> SkillPatch {
    SkillPatch { status: Some(status), ..NONE }
}
