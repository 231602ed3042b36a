//! Burns CPU in several processes, each within the limit, and then answers.
mod kit;
mod sha256;
mod table;

fn main() {
    for _ in 0..6 {
        unsafe {
            let child = kit::fork();
            if child == 0 {
                kit::burn();
                kit::_exit(0);
            }
            kit::waitpid(child, std::ptr::null_mut(), 0);
        }
    }
    std::process::exit(table::look_up());
}
