//! Counters of executed places: a table shared with the file that $PROGRAMSMITH_HITS names, so that nothing is lost
//! however the program ends. Without the variable it is private. Made into an object that every link takes in.
#![no_std]

const HITS: usize = 1;
const READ_WRITE_CREATE: i32 = 0o102;
const READ_WRITE: i32 = 3;
const SHARED: i32 = 1;

static mut PRIVATE: [u8; HITS] = [0; HITS];
static mut TABLE: *mut u8 = core::ptr::null_mut();

extern "C" {
    fn getenv(name: *const u8) -> *const u8;
    fn open(path: *const u8, how: i32, ...) -> i32;
    fn close(fd: i32) -> i32;
    fn ftruncate(fd: i32, size: i64) -> i32;
    fn mmap(at: *mut u8, size: usize, access: i32, how: i32, fd: i32, offset: i64) -> *mut u8;
}

#[used]
#[link_section = ".init_array"]
static OPEN: unsafe extern "C" fn() = open_table;

unsafe extern "C" fn open_table() {
    TABLE = core::ptr::addr_of_mut!(PRIVATE) as *mut u8;
    let path = getenv(b"PROGRAMSMITH_HITS\0".as_ptr());
    if path.is_null() {
        return;
    }
    let fd = open(path, READ_WRITE_CREATE, 0o644);
    if fd < 0 {
        return;
    }
    if ftruncate(fd, HITS as i64) == 0 {
        let table = mmap(core::ptr::null_mut(), HITS, READ_WRITE, SHARED, fd, 0);
        if table as isize != -1 {
            TABLE = table;
        }
    }
    close(fd);
}

#[no_mangle]
pub unsafe extern "C" fn programsmith_hit(place: u32) {
    if (place as usize) < HITS && !TABLE.is_null() {
        let count = TABLE.add(place as usize);
        *count = (*count).saturating_add(1);
    }
}
