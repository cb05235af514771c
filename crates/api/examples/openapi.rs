//! Prints the description of the routes; `just gen` writes it to `docs/openapi.json`.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", nightdesk_api::openapi().to_pretty_json()?);
    Ok(())
}
