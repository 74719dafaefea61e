//! While a command floods its output, the screen answers keys as it always does.

use super::*;
use std::time::Instant;

/// A frame's time at thirty a second. A build without optimisation is given more.
const FRAME: Duration = Duration::from_millis(if cfg!(debug_assertions) { 250 } else { 33 });
/// What a flood may cost, in KiB.
const MORE_MAX: u64 = 16 * 1024;

fn peak(pty: &Pty) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pty.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn keys_are_answered_while_a_command_floods_its_output() {
    let bytes: u64 = if std::env::var_os("SIGNOFF_FULL").is_some() { 1 << 30 } else { 1 << 26 };
    let floods = [format!("yes 0123456789abcde | head -c {bytes}"), format!("head -c {} /dev/zero | tr '\\\\0' x", bytes / 5)];
    for flood in floods {
        let world = World::new();
        let rule = format!(
            "format = 1\n[stream]\ntokens_per_second = 0\npause = 0\n[[rule]]\nfor = \"lead\"\non = \"goal\"\n[[rule.step]]\ntool = \"bash\"\nargs = {{ command = \"{flood}; sleep 1\" }}\n[[rule.step]]\nsay = \"It has passed.\"\n"
        );
        std::fs::write(world.script(), rule).unwrap();
        let mut pty = world.open();
        let before = peak(&pty);
        write_lead(&mut pty, "flood");
        pty.wait_for("the command", |screen| screen.contents().contains("running"));
        let mut times = Vec::new();
        while !pty.contents().contains("It has passed.") {
            let (from, start) = (pty.written(), Instant::now());
            pty.send("\t");
            // The focus moves: borders of two panes are drawn anew.
            wait("a frame", || (pty.written() > from).then_some(()));
            times.push(start.elapsed());
            std::thread::sleep(Duration::from_millis(20));
        }
        times.sort();
        let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
        let late = times.iter().filter(|time| **time > FRAME).count();
        println!("{flood}: {} keys, median {median:?}, longest {most:?}, {late} late; {} KiB more", times.len(), peak(&pty) - before);
        assert!(late * 20 <= times.len(), "{flood}: {late} of {} keys waited longer than {FRAME:?}", times.len());
        assert!(peak(&pty) - before < MORE_MAX, "{flood}: {before} KiB before, {} at most", peak(&pty));
        quit_now(&world, pty);
    }
}
