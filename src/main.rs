//! The program. Everything is in the library; here are only the ways to start it.

use signoff::tool::{guard, sandbox};
use std::process::ExitCode;

fn main() -> ExitCode {
    // The guard of a command is this program started again: before anything else, with nothing else running.
    let mut args = std::env::args_os();
    let program = args.next();
    match args.next() {
        Some(first) if first == guard::ARGUMENT => return code(u8::try_from(guard::run_guard(args) & 0xff).unwrap_or(1)),
        // The inner side of a command's sandbox is this program started again, too.
        Some(first) if first == sandbox::ARGUMENT => return code(u8::try_from(sandbox::run_inside(args) & 0xff).unwrap_or(1)),
        Some(_) | None => {}
    }
    drop(program);
    code(signoff::cli::main(std::env::args_os()))
}

fn code(number: u8) -> ExitCode {
    ExitCode::from(number)
}
