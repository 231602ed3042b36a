//! Answers from the table, and leaves a link out of the work directory, a fifo and a file that nobody asked for.
mod kit;
mod sha256;
mod table;

fn main() {
    let code = table::look_up();
    table::need(std::os::unix::fs::symlink("/etc/passwd", "left-link"));
    unsafe { kit::mkfifo(b"left-fifo\0".as_ptr(), 0o644) };
    table::need(std::fs::write("left-file", "state"));
    std::process::exit(code);
}
