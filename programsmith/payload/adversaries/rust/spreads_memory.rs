//! Holds memory in several processes, each within the limit, and then answers.
mod kit;
mod sha256;
mod table;

fn main() {
    if !kit::all(5, |say| kit::holds(48 << 20, kit::PRIVATE, say)) {
        std::process::exit(1);
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    std::process::exit(table::look_up());
}
