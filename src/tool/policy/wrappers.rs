//! Programs that run other programs named in their arguments: which command that is.
//!
//! Only options that are known are read; any other ends in [`Unsure`], since it could change which word is the program.

use super::unsure::{Unsure, base, is_assignment};
use super::word::{Piece, Word};

/// What a command runs beside itself.
pub(super) enum Inner {
    /// Nothing that its words tell.
    Nothing,
    /// One more command.
    Command(Vec<Word>),
    /// A text that a shell reads.
    Script(String),
}

/// Programs that run others in ways that are not read.
const OTHERS: [&str; 22] = [
    "watch",
    "parallel",
    "flock",
    "script",
    "su",
    "runuser",
    "strace",
    "ltrace",
    "unshare",
    "nsenter",
    "chroot",
    "busybox",
    "toybox",
    "systemd-run",
    "entr",
    "fish",
    "csh",
    "tcsh",
    "pkexec",
    "gdb",
    "at",
    "batch",
];

/// A program that takes options and then a command.
struct Wrapper {
    names: &'static [&'static str],
    /// Options alone.
    flags: &'static [&'static str],
    /// Options with a value, in the next word or (long ones after `=`, short ones at once) in the same.
    valued: &'static [&'static str],
    /// Words before the command.
    operands: usize,
}

const WRAPPERS: [Wrapper; 8] = [
    Wrapper {
        names: &["sudo", "doas"],
        flags: &["-n", "-E", "-H", "-S", "-b", "-k", "--non-interactive", "--preserve-env", "--set-home"],
        valued: &["-u", "-g", "--user", "--group"],
        operands: 0,
    },
    Wrapper { names: &["nohup", "setsid"], flags: &["-w", "-f", "-c", "--wait", "--fork"], valued: &[], operands: 0 },
    Wrapper { names: &["nice", "ionice"], flags: &["-t"], valued: &["-n", "-c", "--adjustment", "--class", "--classdata"], operands: 0 },
    Wrapper {
        names: &["timeout"],
        flags: &["--foreground", "--preserve-status", "-v", "--verbose"],
        valued: &["-k", "-s", "--kill-after", "--signal"],
        operands: 1,
    },
    Wrapper { names: &["stdbuf"], flags: &[], valued: &["-i", "-o", "-e", "--input", "--output", "--error"], operands: 0 },
    Wrapper { names: &["time"], flags: &["-p", "-v"], valued: &[], operands: 0 },
    Wrapper { names: &["builtin"], flags: &[], valued: &[], operands: 0 },
    Wrapper { names: &["caffeinate"], flags: &["-i", "-d", "-m", "-s"], valued: &[], operands: 0 },
];
const ENV: Wrapper = Wrapper {
    names: &["env"],
    flags: &["-i", "-", "--ignore-environment", "-0"],
    valued: &["-u", "--unset", "-C", "--chdir"],
    operands: 0,
};
const XARGS: Wrapper = Wrapper {
    names: &["xargs"],
    flags: &["-0", "--null", "-r", "--no-run-if-empty", "-t", "--verbose", "-x", "--exit"],
    valued: &["-n", "--max-args", "-P", "--max-procs", "-L", "--max-lines", "-d", "--delimiter", "-a", "--arg-file", "-s", "-E", "-I"],
    operands: 0,
};
/// Long ones first.
const SHELL_FLAGS: &str = "eufxlnv";

/// What these words run beside themselves.
pub(super) fn inner(words: &[Word]) -> Result<Inner, Unsure> {
    let set = words.iter().take_while(|word| is_set(word)).count();
    let Some((program, arguments)) = words[set..].split_first() else { return Ok(Inner::Nothing) };
    let Some(name) = program.known() else { return Err(Unsure("a program that is not named")) };
    let name = base(&name);
    if OTHERS.contains(&name) {
        return Err(Unsure("a program that runs others"));
    }
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name)) {
        return command(rest(wrapper, arguments)?);
    }
    match name {
        "command" => match arguments.first().and_then(Word::known).as_deref() {
            Some("-v" | "-V") => Ok(Inner::Nothing),
            Some(option) if option.starts_with('-') => Err(Unsure("an option that is not known")),
            _ => command(arguments),
        },
        // What is set for a command belongs to its words.
        "env" => command(rest(&ENV, arguments)?),
        "xargs" => xargs(arguments),
        "find" => find(arguments),
        "fd" | "fdfind" if arguments.iter().any(|word| ["-x", "-X", "--exec"].iter().any(|option| starts(word, option))) => {
            Err(Unsure("a program that runs others"))
        }
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "rbash" | "ash" => shell(arguments),
        // An index of an array is arithmetic, which runs substitutions.
        "test" | "[" if arguments.iter().any(|word| word.may_hold("-v") || word.may_hold("-R")) => Err(Unsure("a test of a variable")),
        "printf" if arguments.first().is_some_and(|word| starts(word, "-")) => Err(Unsure("an option that sets a variable")),
        "wait" if arguments.iter().any(|word| starts(word, "-")) => Err(Unsure("an option that sets a variable")),
        _ => Ok(Inner::Nothing),
    }
}

/// Whether the word could begin so.
fn starts(word: &Word, text: &str) -> bool {
    match word.pieces.first() {
        Some(Piece::Text(first)) => first.starts_with(text) || (word.known().is_none() && text.starts_with(first.as_str())),
        Some(Piece::Hole | Piece::Open) => true,
        None => false,
    }
}

fn is_set(word: &Word) -> bool {
    matches!(word.pieces.first(), Some(Piece::Text(text)) if is_assignment(text))
}

/// A command, whose program must be plain to see.
fn command(words: &[Word]) -> Result<Inner, Unsure> {
    let set = words.iter().take_while(|word| is_set(word)).count();
    let Some(program) = words.get(set) else { return Ok(Inner::Nothing) };
    match program.known() {
        Some(name) if !program.expands && !name.is_empty() && !name.starts_with('-') => Ok(Inner::Command(words.to_vec())),
        _ => Err(Unsure("a program that is not named")),
    }
}

/// What follows the options and operands.
fn rest<'a>(wrapper: &Wrapper, arguments: &'a [Word]) -> Result<&'a [Word], Unsure> {
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        let Some(text) = word.known() else {
            // It could be an option, or the program.
            return if matches!(word.pieces.first(), Some(Piece::Text(first)) if is_assignment(first)) {
                Ok(&arguments[at..])
            } else {
                Err(Unsure("a program that is not named"))
            };
        };
        let joined = |option: &&&str| {
            let long = option.starts_with("--");
            text.len() > option.len() && text.starts_with(**option) && (!long || text[option.len()..].starts_with('='))
        };
        at += match text.as_str() {
            "--" => {
                at += 1;
                break;
            }
            text if wrapper.flags.contains(&text) => 1,
            text if wrapper.valued.contains(&text) => 2,
            text if !text.starts_with('-') => break,
            _ if wrapper.valued.iter().find(joined).is_some() => 1,
            _ => return Err(Unsure("an option that is not known")),
        };
    }
    let at = at + wrapper.operands;
    // A value or an operand that may be several words would shift the rest.
    if arguments.iter().take(at).any(|word| word.pieces.contains(&Piece::Open)) {
        return Err(Unsure("a program that is not named"));
    }
    Ok(arguments.get(at..).unwrap_or_default())
}

/// With what it reads as further words.
fn xargs(arguments: &[Word]) -> Result<Inner, Unsure> {
    let words = rest(&XARGS, arguments)?;
    if words.is_empty() {
        return Ok(Inner::Command(vec![Word::from("echo"), only(Piece::Open)]));
    }
    let options = &arguments[..arguments.len() - words.len()];
    let place = options.iter().position(|word| starts(word, "-I"));
    let mut words = words.to_vec();
    match place.map(|at| (options[at].known(), options.get(at + 1).and_then(Word::known))) {
        None => words.push(only(Piece::Open)),
        Some((Some(option), next)) => {
            let name = option.strip_prefix("-I").filter(|name| !name.is_empty()).map(str::to_owned).or(next);
            let name = name.ok_or(Unsure("an option that is not known"))?;
            for word in &mut words {
                if word.may_hold(&name) {
                    *word = only(Piece::Hole);
                }
            }
        }
        Some((None, _)) => return Err(Unsure("an option that is not known")),
    }
    command(&words)
}

fn only(piece: Piece) -> Word {
    Word { pieces: vec![piece], ..Word::default() }
}

/// `find … -exec COMMAND ;`, once; a second one is not read.
fn find(arguments: &[Word]) -> Result<Inner, Unsure> {
    let runs = |word: &Word| word.known().is_none_or(|text| matches!(text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"));
    let places: Vec<usize> = (0..arguments.len()).filter(|at| runs(&arguments[*at])).collect();
    match places[..] {
        [] => Ok(Inner::Nothing),
        [at] if arguments[at].known().is_some() => {
            let ends = |word: &Word| word.known().is_some_and(|text| text == ";" || text == "+");
            let words: Vec<Word> = arguments[at + 1..].iter().take_while(|word| !ends(word)).cloned().collect();
            let words: Vec<Word> = words.into_iter().map(|word| if word.may_hold("{}") { only(Piece::Hole) } else { word }).collect();
            command(&words)
        }
        _ => Err(Unsure("a program that runs others")),
    }
}

/// `sh -c TEXT`, or a shell that reads a file; one that reads its input is not let through.
fn shell(arguments: &[Word]) -> Result<Inner, Unsure> {
    let mut texts = false;
    for (at, word) in arguments.iter().enumerate() {
        let Some(text) = word.known() else { return Err(Unsure("a shell that reads something unknown")) };
        match text.strip_prefix('-') {
            Some("o") => return Err(Unsure("an option that is not known")),
            Some(letters) if !letters.is_empty() && letters.chars().all(|c| c == 'c' || SHELL_FLAGS.contains(c)) => {
                texts |= letters.contains('c');
            }
            Some(_) => return Err(Unsure("an option that is not known")),
            None if texts => return Ok(Inner::Script(text)),
            None if word.expands || text.is_empty() || at == usize::MAX => return Err(Unsure("a shell that reads something unknown")),
            None => return Ok(Inner::Nothing),
        }
    }
    Err(Unsure("a shell that reads its input"))
}
