//! The command line over the same core as the page.
fn main() {}
