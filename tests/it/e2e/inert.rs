//! Two hundred hostile texts in everything that is drawn: on the bytes that reach the terminal they steer nothing and hide
//! nothing, and the words around them can be read.

use super::*;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A number that no sequence of the program's own has: a sequence that has it came from a text.
const MARK: u16 = 1337;

/// What a text might do to a terminal: every control character, every kind of sequence, and what cannot be seen.
fn corpus() -> Vec<String> {
    let mut out: Vec<String> = (0u8..0x20).filter(|c| !b"\t\n".contains(c)).map(|c| char::from(c).to_string()).collect();
    out.extend((0x7fu32..=0x9f).filter_map(char::from_u32).map(String::from));
    let unseen = "\u{ad}\u{61c}\u{180e}\u{200b}\u{200c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2060}\u{2061}\
        \u{2062}\u{2063}\u{2064}\u{2066}\u{2067}\u{2068}\u{2069}\u{206a}\u{206f}\u{feff}\u{fff9}\u{fffa}\u{fffb}\u{e0001}\u{e0020}\u{e0041}\
        \u{e007f}\u{e01f0}\u{115f}\u{1160}\u{3164}";
    out.extend(unseen.chars().map(String::from));
    let endings = "ABCDEFGHIJKLMPSTXZ@`abcdefghilmnpqrstuvwxyz{|}~";
    for (start, what) in [("\x1b[", "7"), ("\u{9b}", "8")] {
        out.extend(endings.chars().step_by(if what == "7" { 1 } else { 6 }).map(|end| format!("{start}{MARK};{what}{end}")));
    }
    for number in [0, 1, 2, 4, 7, 8, 9, 10, 11, 12, 52, 104, 133, 633, 777, 1337] {
        out.push(format!("\x1b]{number};pwned{number}\x07"));
        out.push(format!("\x1b]{number};pwned{number}\x1b\\"));
    }
    let more = [
        "\x1bc",
        "\x1b7",
        "\x1b8",
        "\x1b#8",
        "\x1b(0",
        "\x1b)0",
        "\x1bD",
        "\x1bE",
        "\x1bH",
        "\x1bM",
        "\x1bN",
        "\x1bO",
        "\x1bZ",
        "\x1b=",
        "\x1b>",
        "\x1b%G",
        "\x1bP1337;1|pwned\x1b\\",
        "\x1bPq#0;2;0;0;0\x1b\\",
        "\x1bP+q544e\x1b\\",
        "\x1b_Gpwned\x1b\\",
        "\x1b^pwned\x1b\\",
        "\x1bXpwned\x1b\\",
        "\u{90}1337pwned\u{9c}",
        "\u{9d}0;pwned\u{9c}",
        "\u{9f}pwned\u{9c}",
        "\x1b[?1337h",
        "\x1b[?1337l",
        "\x1b[>1337c",
        "\x1b[=1337c",
        "\x1b[1337 q",
        "\x1b[!p",
        "\x1b[200~a\x1b[201~",
        "\x1b[\x1b[1337m",
        "\x1b[1337\x18m",
        "\x1b]0;pwned",
        "\x1b[",
        "\x1b",
        "\x1b\x1b[1337A",
        "\r\x1b[1337K",
        "a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    ];
    out.extend(more.map(String::from));
    out.push(format!("z{}", "\u{489}\u{35c}".repeat(40)));
    out
}

fn hostile(at: usize, text: &str) -> String {
    format!("S{at:03}{text}E{at:03}")
}

/// What steers or hides in the bytes that went to a terminal.
#[derive(Default)]
struct Watcher {
    faults: BTreeSet<String>,
    marks: usize,
}

impl Watcher {
    fn look(&mut self, raw: &[u8]) {
        vte::Parser::new().advance(self, raw);
        // The parser skips these without a word.
        for string in [b"\x1b_", b"\x1b^", b"\x1bX"] {
            if raw.windows(2).any(|two| two == string) {
                self.fault(format!("a string for the terminal begins with {:?}", char::from(string[1])));
            }
        }
    }

    fn fault(&mut self, text: String) {
        self.faults.insert(text);
    }
}

impl vte::Perform for Watcher {
    fn print(&mut self, c: char) {
        self.marks = if unicode_width::UnicodeWidthChar::width(c) == Some(0) { self.marks + 1 } else { 0 };
        if self.marks > 4 {
            self.fault("a pile of marks".into());
        }
        if !signoff::domain::text::is_safe(c) {
            self.fault(format!("U+{:04X} is printed", u32::from(c)));
        }
    }

    fn execute(&mut self, byte: u8) {
        if !b"\r\n\t\x07".contains(&byte) {
            self.fault(format!("control {byte:#04x}"));
        }
    }

    fn hook(&mut self, params: &vte::Params, _: &[u8], _: bool, action: char) {
        self.fault(format!("device control {params:?} {action}"));
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], _: bool) {
        let text = String::from_utf8_lossy(&params.concat()).into_owned();
        let ours = params.first().is_some_and(|number| [&b"2"[..], b"9", b"777"].contains(number));
        if !ours || text.contains("pwned") || !text.chars().all(signoff::domain::text::is_safe) {
            self.fault(format!("system command {text:?}"));
        }
    }

    fn csi_dispatch(&mut self, params: &vte::Params, between: &[u8], _: bool, action: char) {
        if params.iter().flatten().any(|number| *number == MARK) || action == '~' || between.contains(&b'!') {
            self.fault(format!("control sequence {params:?} {action}"));
        }
    }

    fn esc_dispatch(&mut self, _: &[u8], _: bool, byte: u8) {
        if !b"\\".contains(&byte) {
            self.fault(format!("escape {:?}", char::from(byte)));
        }
    }
}

fn assert_inert(what: &str, raw: &[u8]) {
    let mut watcher = Watcher::default();
    watcher.look(raw);
    assert!(watcher.faults.is_empty(), "{what}: {:#?}", watcher.faults);
}

/// Looks at a view page by page until it stays as it is; which of the texts were there to be read.
fn page_through(pty: &mut Pty, down: &str) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    loop {
        pty.wait_quiet(Duration::from_millis(60));
        let text = pty.contents();
        let flat: String = text.split_whitespace().collect();
        found.extend((0..1_000).filter(|at| flat.contains(&format!("S{at:03}")) && flat.contains(&format!("E{at:03}"))));
        pty.send(down);
        let until = std::time::Instant::now() + Duration::from_secs(2);
        while pty.contents() == text {
            if std::time::Instant::now() > until {
                return found;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn toml(text: &str) -> String {
    let escape = |mut out: String, c: char| {
        let _ = if c.is_ascii_alphanumeric() || c == ' ' { write!(out, "{c}") } else { write!(out, "\\U{:08x}", u32::from(c)) };
        out
    };
    format!("\"{}\"", text.chars().fold(String::new(), escape))
}

/// The texts in every file and in everything a model says.
fn world(texts: &[String]) -> World {
    let world = World::new();
    let all = texts.iter().enumerate().map(|(at, text)| hostile(at, text)).collect::<Vec<_>>();
    let lines = all.join("\n\n");
    std::fs::create_dir_all(world.work.join(".tasks")).unwrap();
    for (at, text) in all.iter().enumerate() {
        let task = serde_json::json!({ "id": at + 2, "subject": text, "status": "completed", "owner": null, "blockedBy": [] });
        std::fs::write(world.work.join(format!(".tasks/task_{}.json", at + 2)), task.to_string()).unwrap();
    }
    let task =
        serde_json::json!({ "id": 1, "subject": all[33], "description": lines, "status": "completed", "owner": null, "blockedBy": [] });
    std::fs::write(world.work.join(".tasks/task_1.json"), task.to_string()).unwrap();
    std::fs::write(world.work.join("hostile.txt"), lines.as_bytes()).unwrap();
    let calls = [
        "{ tool = \"bash\", args = { command = \"cat hostile.txt\" } }".to_owned(),
        format!("{{ tool = \"spawn_teammate\", args = {{ name = \"bob\", role = {}, prompt = {} }} }}", toml(&all[140]), toml(&lines)),
        format!("{{ tool = \"send_message\", args = {{ to = \"bob\", content = {} }} }}", toml(&lines)),
        format!("{{ tool = \"no_such_tool\", args = {{ x = {} }} }}", toml(&all[142])),
        format!("{{ tool = \"read_file\", args = {{ path = {} }} }}", toml(&all[143])),
    ];
    let script = format!(
        "format = 1\n[stream]\ntokens_per_second = 0\npause = 0\n[[rule]]\nfor = \"lead\"\non = \"goal\"\nmax = 1\n[[rule.step]]\nthink = {0}\nsay = {0}\ncalls = [{1}]\n\
         [[rule.step]]\nsay = {0}\n[[rule]]\nfor = \"bob\"\non = \"prompt\"\nmax = 1\n[[rule.step]]\ntool = \"plan_approval\"\nargs = {{ plan = {0} }}\n",
        toml(&lines),
        calls.join(", ")
    );
    std::fs::write(world.script(), script).unwrap();
    world
}

#[test]
fn a14_two_hundred_hostile_texts_are_inert_and_readable_wherever_they_are_drawn() {
    let texts = corpus();
    assert!(texts.len() >= 200, "{}", texts.len());
    let every: BTreeSet<usize> = (0..texts.len()).collect();
    let world = world(&texts);
    let opening = world.opening();
    let opening: Vec<&str> = opening.iter().map(String::as_str).collect();
    let mut pty = Pty::spawn(world.command(&opening), 200, 60);
    pty.wait_for_text("3 Board");
    pty.send("3z");
    let seen = page_through(&mut pty, "\x1b[6~");
    assert_eq!(seen, every, "subjects on the board");
    pty.send("gz");
    write_lead(&mut pty, "begin");
    pty.wait_for_text("waits: plan");
    let views = [("a task", "3g\r"), ("a plan", "2\r"), ("the lead's transcript", "1g\r"), ("a message", "1gj4g\r")];
    for (what, keys) in views {
        pty.wait_quiet(Duration::from_millis(100));
        for key in keys.chars() {
            pty.send(key.to_string());
        }
        pty.wait_quiet(Duration::from_millis(100));
        pty.send("g");
        let seen = page_through(&mut pty, "\x1b[6~");
        assert_eq!(seen, every, "{what}:\n{}", pty.contents());
        pty.send("\x1b");
        pty.wait_for_text("5 Activity");
    }
    assert_inert("the screen", &pty.raw());
    for args in [&["task", "list"][..], &["task", "show", "1"], &["inbox", "bob"], &["requests"], &["team"], &["status"]] {
        let output = world.run(args);
        assert!(output.status.success(), "{args:?}");
        assert_inert(&args.join(" "), &[output.stdout, output.stderr].concat());
    }
    quit_now(&world, pty);
}

#[test]
fn two_hundred_hostile_texts_are_inert_without_a_screen() {
    let texts = corpus();
    let world = world(&texts);
    let script = world.script();
    let output = world.run(&["run", "begin", "--plans", "deny", "--provider", "scripted", "--script", script.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("E001"), "{output:?}");
    assert_inert("run", &[output.stdout, output.stderr].concat());
    let opening = world.opening();
    let mut opening: Vec<&str> = opening.iter().map(String::as_str).collect();
    opening.push("--plain");
    let mut pty = Pty::spawn(world.command(&opening), 200, 60);
    pty.wait_for_text("lead");
    pty.send("board\r");
    pty.wait_quiet(Duration::from_millis(300));
    assert_inert("the linear mode", &pty.raw());
}

#[test]
fn the_watcher_would_see_them() {
    let unseen = |text: &String| {
        let mut watcher = Watcher::default();
        watcher.look(hostile(1, text).as_bytes());
        watcher.faults.is_empty()
    };
    let missed: Vec<String> = corpus().into_iter().filter(unseen).collect();
    // A return and a bell are the program's own, too, and what was begun only is ended by the next letter.
    assert!(missed.len() <= 4, "{missed:?}");
}
