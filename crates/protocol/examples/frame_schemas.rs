//! Prints the JSON Schemas of the frames; `just gen` writes them to `docs/frames.schema.json`.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

fn main() {
    println!("{:#}", nightdesk_protocol::frame::schema::schemas());
}
