//! What a supervisor decided, read from plain text for models that call no tools.
//!
//! Order (Solon AI's, with the marker first): the finish marker, an exact name, "assign/route to X", the last name on a
//! word boundary. Only the supervisor's own answer is read; members' outputs never decide anything.

use super::Team;
use crate::domain::MemberName;
use crate::domain::text::one_line;
use serde::{Deserialize, Serialize};

/// Ends a run when a supervisor writes it.
pub const FINISH_MARKER: &str = "[TEAM_FINISH]";
/// So many words may stand between "assign" and "to X".
const REACH: usize = 6;

/// What the supervisor wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// This member acts next.
    Route {
        /// Who.
        who: MemberName,
        /// What it shall do; may be empty.
        instruction: String,
        /// How it was read, for the trace.
        how: String,
    },
    /// The run ends.
    Finish {
        /// The answer; may be empty.
        answer: String,
    },
    /// The protocol's rule goes on (a call for bids was made).
    ByRule,
}

/// Reads a decision; the error says why it cannot be read.
pub fn read_text(text: &str, team: &Team) -> Result<Decision, String> {
    if let Some(answer) = finish_answer(text) {
        return Ok(Decision::Finish { answer });
    }
    if text.trim().is_empty() {
        return Err("the supervisor's answer is empty".into());
    }
    let (who, how) = route_in(text, team).ok_or_else(|| format!("no member is named in {:?}", one_line(text, 80)))?;
    let name = team.seats[who].name().clone();
    let instruction = if bare(text).eq_ignore_ascii_case(name.as_str()) { String::new() } else { text.trim().to_owned() };
    Ok(Decision::Route { who: name, instruction, how: how.to_owned() })
}

/// The answer that stands around the finish marker, if it is there: what follows it, else what precedes it.
pub fn finish_answer(text: &str) -> Option<String> {
    let at = text.to_ascii_uppercase().find(FINISH_MARKER)?;
    let (before, after) = (text[..at].trim(), text[at + FINISH_MARKER.len()..].trim());
    let after = after.trim_start_matches([':', '-']).trim();
    Some(if after.is_empty() { before } else { after }.to_owned())
}

fn route_in(text: &str, team: &Team) -> Option<(usize, &'static str)> {
    let live = |word: &str| team.lookup(word).filter(|at| team.seats[*at].is_live());
    let first_line = text.trim().lines().next().unwrap_or("");
    if let Some(at) = live(bare(text)).or_else(|| live(bare(first_line))) {
        return Some((at, "exact name"));
    }
    let words = words(text);
    assigned(&words, &live).map(|at| (at, "assign/route to")).or_else(|| {
        let named = words.iter().rev().find_map(|word| live(word));
        named.map(|at| (at, "last name mentioned"))
    })
}

/// The last "assign … to X", "route to X", "assign X".
fn assigned(words: &[&str], live: &impl Fn(&str) -> Option<usize>) -> Option<usize> {
    let verb = |word: &&str| ["assign", "route", "delegat", "hand"].iter().any(|stem| starts_with(word, stem));
    (1..words.len()).rev().find_map(|at| {
        let who = live(words[at])?;
        let to = words[at - 1].eq_ignore_ascii_case("to") && words[at.saturating_sub(REACH + 1)..at - 1].iter().any(verb);
        let directly = ["assign", "route_to"].iter().any(|word| words[at - 1].eq_ignore_ascii_case(word));
        (to || directly).then_some(who)
    })
}

fn starts_with(word: &str, stem: &str) -> bool {
    word.get(..stem.len()).is_some_and(|head| head.eq_ignore_ascii_case(stem))
}

fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || (c.is_ascii_punctuation() && c != '_') || "“”‘’«»。".contains(c))
}

/// The words a name could be: runs of letters, digits, `_` and `-`. Names are ASCII, so text in scripts without spaces
/// (CJK) is a boundary, while accented Latin letters are part of a word.
pub fn words(text: &str) -> Vec<&str> {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || (c.is_alphabetic() && ('\u{c0}'..'\u{250}').contains(&c));
    text.split(|c: char| !inside(c)).map(|word| word.trim_matches('-')).filter(|word| !word.is_empty()).collect()
}

/// Whether `phrase` occurs in `text` with no letter or digit on either side, ignoring case: `java` is not in `javascript`.
pub fn mentions(text: &str, phrase: &str) -> bool {
    let (text, phrase) = (text.to_lowercase(), phrase.trim().to_lowercase());
    if phrase.is_empty() {
        return false;
    }
    text.match_indices(&phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        let open = |neighbour: Option<char>, edge: Option<char>| !(is_letter(neighbour) && is_letter(edge));
        open(before, phrase.chars().next()) && open(after, phrase.chars().next_back())
    })
}

/// A letter or digit of a script that separates words; CJK does not.
fn is_letter(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() && c < '\u{2e80}')
}

/// `text` without any occurrence of `part`, ASCII case ignored.
pub fn without(text: &str, part: &str) -> String {
    let (lower, part) = (text.to_ascii_lowercase(), part.to_ascii_lowercase());
    if part.is_empty() {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut at = 0;
    for (found, _) in lower.match_indices(&part) {
        out.push_str(&text[at..found]);
        at = found + part.len();
    }
    out + &text[at..]
}
