//! The suites detect every planted fault, each by its own case.

use nightdesk_conformance::shelf_contract::MemoryShelves;
use nightdesk_conformance::shelf_contract::planted::{plant_in_data, plant_in_skills};

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
