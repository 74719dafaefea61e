//! The program. Everything is in the library; here are only the two ways to start it.

use signoff::tool::guard;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The guard of a command is this program started again: before anything else, with nothing else running.
    let mut args = std::env::args_os();
    let program = args.next();
    if args.next().is_some_and(|first| first == guard::ARGUMENT) {
        return code(u8::try_from(guard::run_guard(args) & 0xff).unwrap_or(1));
    }
    drop(program);
    code(signoff::cli::main(std::env::args_os()))
}

fn code(number: u8) -> ExitCode {
    ExitCode::from(number)
}
