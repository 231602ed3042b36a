//! Holds its slot far longer than it may without using any CPU, and then answers.
mod kit;
mod sha256;
mod table;

fn main() {
    std::thread::sleep(kit::LONG);
    std::process::exit(table::look_up());
}
