//! Does nothing and ends well.
fn main() {}
