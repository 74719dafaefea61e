//! The linear mode through pipes, as a screen reader or a script uses it.

use super::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};

struct Linear {
    child: Child,
    input: ChildStdin,
    lines: std::sync::mpsc::Receiver<String>,
}

impl Linear {
    fn open(world: &World) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(world.opening()).arg("--plain").current_dir(world.root());
        world.surround(&mut command);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let input = child.stdin.take().unwrap();
        let (sender, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, input, lines }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    fn wait_line(&self, what: &str) -> String {
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(crate::pty::DEADLINE) {
                Ok(line) if line.contains(what) => return line,
                Ok(line) => seen.push(line),
                Err(_) => panic!("waited in vain for {what:?}; told:\n{}", seen.join("\n")),
            }
        }
    }
}

impl Drop for Linear {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_plan_is_read_and_approved_by_lines_and_quit_stops_the_team() {
    let world = World::new();
    let mut linear = Linear::open(&world);
    linear.wait_line("linear mode");
    linear.say("spawn bob coder");
    linear.say("task add Risky change");
    let told = linear.wait_line("type show");
    let id = told.split_whitespace().nth(1).unwrap().trim_end_matches(':').to_owned();
    linear.say(&format!("approve {id}"));
    linear.wait_line("Error");
    linear.say(&format!("show {id}"));
    linear.wait_line("Write result.txt.");
    linear.say(&format!("approve {id} go on"));
    linear.wait_line("Done");
    wait("the result", || world.read("result.txt").starts_with("First version").then_some(()));
    linear.say("quit");
    let status = wait("the end", || linear.child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    world.wait_no_commands();
    assert!(world.store().lock_team().unwrap().is_some(), "the lock is free");
}

#[test]
fn the_end_of_the_input_stops_the_team_even_when_a_member_does_not_answer() {
    let world = World::new();
    let settings = world.root().join("config/signoff/config.toml");
    std::fs::write(settings, "[permissions]\ncommands = \"allow\"\n[limits]\nshutdown_grace = 1\n").unwrap();
    let mut linear = Linear::open(&world);
    linear.say("spawn bob coder");
    linear.say("task add Slow thing");
    wait("the command", || (!world.commands_alive().is_empty()).then_some(()));
    let Linear { child, input, .. } = &mut linear;
    drop(std::mem::replace(input, Command::new("true").stdin(Stdio::piped()).spawn().unwrap().stdin.take().unwrap()));
    let status = wait("the end", || child.try_wait().unwrap());
    assert!(status.code().is_some());
    world.wait_no_commands();
}
