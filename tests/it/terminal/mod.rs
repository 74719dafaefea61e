//! The terminal layer under a real pseudo-terminal, with a toy screen that runs in a child of this test program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test may panic, and measures time"
)]

mod child;
mod frames;
mod keys;
mod leaving;
mod plain;
mod takeover;

use crate::pty::Pty;
use portable_pty::CommandBuilder;

/// The command that runs the toy in a child.
fn toy_command(settings: &[(&str, &str)]) -> CommandBuilder {
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args(child::ARGUMENTS);
    command.env(child::SWITCH, "1");
    command.env("RUST_BACKTRACE", "0");
    for (name, value) in settings {
        command.env(name, value);
    }
    command
}

/// The toy on an 80×24 terminal, after its first frame.
fn toy(settings: &[(&str, &str)]) -> Pty {
    let pty = Pty::spawn(toy_command(settings), 80, 24);
    pty.wait_for_text("toy 80x24");
    pty
}
