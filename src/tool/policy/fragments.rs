//! Everything in a command line that might be run, read generously: for rules that forbid. What is found too much only
//! forbids too much.

use super::unsure::{base, is_assignment};

/// How deep commands within words of commands are looked at (`bash -c "sh -c '…'"`).
const DEPTH_MAX: usize = 4;

/// Programs that run other programs named in their arguments.
const WRAPPERS: [&str; 36] = [
    "env",
    "sudo",
    "doas",
    "nohup",
    "nice",
    "ionice",
    "time",
    "timeout",
    "stdbuf",
    "setsid",
    "xargs",
    "parallel",
    "exec",
    "command",
    "builtin",
    "eval",
    "busybox",
    "watch",
    "strace",
    "unshare",
    "chroot",
    "flock",
    "script",
    "su",
    "runuser",
    "ssh",
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "find",
    "fd",
    "trap",
    "caffeinate",
];

/// Everything in a command that might be run, each as words: for rules that forbid. Prefixes (`X=1`, `then`, `sudo`, `env`)
/// are taken off, programs are named without their folder, and texts that other shells run are read too.
pub fn fragments(command: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    collect(command, 0, &mut found);
    found
}

fn collect(command: &str, depth: usize, found: &mut Vec<Vec<String>>) {
    let mut loose = Loose::default();
    loose.read(command);
    for words in loose.fragments {
        let words = strip(&words);
        let Some(program) = words.first().map(|word| base(word).to_owned()) else { continue };
        found.push(named(words));
        if !WRAPPERS.contains(&program.as_str()) {
            continue;
        }
        for at in 1..words.len() {
            let rest = strip(&words[at..]);
            if !rest.is_empty() {
                found.push(named(rest));
            }
        }
        if depth < DEPTH_MAX {
            words[1..].iter().filter(|word| word.contains(char::is_whitespace)).for_each(|word| collect(word, depth + 1, found));
        }
    }
    if depth < DEPTH_MAX {
        loose.nested.iter().for_each(|text| collect(text, depth + 1, found));
    }
}

fn strip(words: &[String]) -> &[String] {
    const BEFORE: [&str; 12] = ["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "time", "coproc"];
    let prefixes = words.iter().take_while(|word| is_assignment(word) || BEFORE.contains(&word.as_str())).count();
    &words[prefixes..]
}

fn named(words: &[String]) -> Vec<String> {
    words.iter().enumerate().map(|(at, word)| if at == 0 { base(word).to_owned() } else { word.clone() }).collect()
}

#[derive(Default)]
struct Loose {
    fragments: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    /// The next word is a redirection's target.
    skip: bool,
    /// Double-quoted texts with substitutions in them.
    nested: Vec<String>,
}

impl Loose {
    fn read(&mut self, command: &str) {
        let spaced = command.replace("${IFS}", " ").replace("$IFS", " ");
        let mut chars = spaced.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\'' => self.push(chars.by_ref().take_while(|c| *c != '\'').collect()),
                '"' => {
                    let text = quoted(&mut chars);
                    if text.contains("$(") || text.contains('`') {
                        self.nested.push(text.clone());
                    }
                    self.push(text);
                }
                '\\' => self.push(chars.next().filter(|c| *c != '\n').map(String::from).unwrap_or_default()),
                '$' if matches!(chars.peek(), Some('\'' | '"' | '(')) => {}
                ';' | '|' | '&' | '\n' | '(' | ')' | '`' => self.end_fragment(),
                '<' | '>' => {
                    if self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
                        self.word = None;
                    }
                    self.end_word();
                    if chars.peek() == Some(&'&') {
                        chars.next();
                    }
                    self.skip = true;
                }
                c if c.is_whitespace() || c == '\0' => self.end_word(),
                c => self.push(c.into()),
            }
        }
        self.end_fragment();
    }

    fn push(&mut self, text: String) {
        self.word.get_or_insert_default().push_str(&text);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if !std::mem::take(&mut self.skip) {
            self.words.push(word);
        }
    }

    fn end_fragment(&mut self) {
        self.end_word();
        self.skip = false;
        if !self.words.is_empty() {
            self.fragments.push(std::mem::take(&mut self.words));
        }
    }
}

fn quoted(chars: &mut impl Iterator<Item = char>) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => text.extend(chars.next()),
            c => text.push(c),
        }
    }
    text
}
