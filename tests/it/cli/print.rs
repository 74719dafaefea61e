//! What is printed.

use super::headless::Shared;
use signoff::cli::CliError;
use signoff::cli::out::{Align, Out, Table, fit};

fn table() -> Table {
    let mut table = Table::new(&[("name", Align::Left), ("n", Align::Right), ("text", Align::Left)]);
    table.row(["張三", "7", "short"]);
    table.row(["bob", "1234", "a text\nof two lines \u{1b}[2J"]);
    table
}

#[test]
fn columns_align_whatever_the_script_and_rows_stay_on_one_line() {
    let lines = table().lines(None);
    assert_eq!(lines, ["name     n  text", "張三     7  short", "bob   1234  a text of two lines \u{fffd}[2J"]);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for line in table().lines(Some(20)) {
        assert!(unicode_width::UnicodeWidthStr::width(line.as_str()) <= 20, "{line}");
    }
    assert_eq!(fit("張三張三", 5), "張三…");
    assert_eq!(fit("abc", 3), "abc");
}

#[test]
fn text_for_people_never_steers_the_terminal() {
    let (data, people) = (Shared::default(), Shared::default());
    let mut out = Out::to(data.clone(), people.clone(), None);
    out.line("a\u{1b}]0;title\u{7}b\u{202e}c").unwrap();
    out.say("\u{9b}2J");
    assert_eq!(data.text(), "a\u{fffd}]0;title\u{fffd}b\u{fffd}c\n");
    assert_eq!(people.text(), "\u{fffd}2J\n");
}

#[test]
fn json_means_the_same_and_steers_nothing() {
    let data = Shared::default();
    let mut out = Out::to(data.clone(), Shared::default(), None);
    let text = "esc \u{1b} csi \u{9b} rtl \u{202e} tag \u{e0041} 張 \"q\"";
    out.json(&serde_json::json!({ "text": text })).unwrap();
    let line = data.text();
    assert!(line.trim_end().chars().all(|c| !c.is_control() && c != '\u{202e}' && c != '\u{e0041}'), "{line}");
    let back: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(back["text"], text);
}

#[test]
fn a_reader_that_is_gone_is_no_failure() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    }
    let mut out = Out::to(Closed, Closed, None);
    out.say("nobody hears this");
    assert!(matches!(out.line("x"), Err(CliError::ReaderGone)));
}
