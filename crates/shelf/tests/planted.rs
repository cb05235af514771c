//! The suites detect every planted fault, each by its own case.

#![cfg(feature = "conformance")]

use nightdesk_shelf::conformance::planted::{plant_in_data, plant_in_skills};
use nightdesk_testkit::MemoryShelves;

#[tokio::test]
async fn every_fault_of_a_store_of_skills_is_noticed() {
    let planted = plant_in_skills(&MemoryShelves).await;

    assert_eq!(planted.missed, [""; 0]);
    assert_eq!(planted.caught(), planted.planted);
}

#[tokio::test]
async fn every_fault_of_a_store_of_data_is_noticed() {
    let planted = plant_in_data(&MemoryShelves).await;

    assert_eq!(planted.missed, [""; 0]);
    assert_eq!(planted.caught(), planted.planted);
}
