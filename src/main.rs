//! The page's entry: panic hook and mount, nothing else.
fn main() {}
