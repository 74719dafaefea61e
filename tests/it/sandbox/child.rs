//! The test program in the place of the program's hidden arguments.

use signoff::tool::guard;
use signoff::tool::sandbox::{ARGUMENT, run_inside};
use std::ffi::OsString;

/// What starts the test below as the inner side of the wall; its own arguments follow.
pub fn again() -> Vec<OsString> {
    entry_as(ARGUMENT)
}

/// The argv before a command that starts the test below as the guard.
pub fn launcher() -> Vec<OsString> {
    std::iter::once(std::env::current_exe().unwrap().into()).chain(entry_as(guard::ARGUMENT)).collect()
}

fn entry_as(argument: &str) -> Vec<OsString> {
    ["--exact", "sandbox::child::entry", "--nocapture", "-q", "--test-threads=1", "--", argument].map(OsString::from).into()
}

/// Not a test by itself.
#[test]
fn entry() {
    let mut arguments = std::env::args_os().skip_while(|argument| argument != "--").skip(1);
    match arguments.next() {
        Some(argument) if argument == ARGUMENT => std::process::exit(run_inside(arguments)),
        Some(argument) if argument == guard::ARGUMENT => std::process::exit(guard::run_guard_as(&launcher(), arguments)),
        Some(_) | None => {}
    }
}
