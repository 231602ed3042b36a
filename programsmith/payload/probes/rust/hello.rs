//! Says hello: proves that a program builds and runs.
fn main() {
    println!("hello from the run stage");
}
