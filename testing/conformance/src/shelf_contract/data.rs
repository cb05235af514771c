//! The suite of a store of data.

mod upstream;
mod kept;
mod asked;

use nightdesk_shelf::{DataWrite, QueryFilters};

use super::{DataHarness, Report, cases};

/// Runs all cases of a store of data.
#[expect(clippy::cognitive_complexity, reason = "a list, of one call each")]
pub async fn data_store<H: DataHarness>(harness: &H) -> Report {
    cases!(
        harness,
        upstream::is_of_its_contract,
        upstream::names_itself_and_its_contract,
        upstream::says_what_it_can_do,
        upstream::says_so_without_a_store,
        upstream::query_is_there,
        upstream::manifest_is_there,
        upstream::what_is_found_has_an_id_and_a_summary,
        upstream::declared_modes_answer,
        kept::what_was_written_is_read,
        kept::what_is_missing_is_none,
        kept::an_expiry_is_kept,
        kept::no_end_is_told_from_nothing_said,
        kept::what_expired_is_not_shown,
        kept::a_field_has_one_place,
        kept::the_first_line_is_the_summary,
        kept::the_same_again_is_the_same_entry,
        kept::what_is_not_set_is_left_out,
        kept::an_entry_has_a_bound,
        asked::every_word_must_be_there,
        asked::nothing_found_is_an_answer,
        asked::a_tag_is_any_of_those,
        asked::every_filter_it_names_counts,
        asked::a_filter_it_does_not_keep_is_refused,
        asked::only_true_lets_a_filter_go,
        asked::a_mode_it_does_not_have_is_refused,
        asked::no_more_are_answered_than_asked_for,
        asked::without_words_the_newest_are_meant,
    )
}

fn write(content: &str) -> DataWrite {
    DataWrite { content: content.to_owned(), ..<_>::default() }
}

fn words(query: &str) -> QueryFilters {
    QueryFilters { query: query.to_owned(), ..<_>::default() }
}
