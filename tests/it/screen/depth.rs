//! Texts that nest without an end: drawn in bounded time, on the stack that every thread has.

#![allow(clippy::disallowed_methods, reason = "a test measures time")]

use signoff::app::markdown;
use signoff::tool::policy::{fragments, split};
use std::time::{Duration, Instant};

const DEEP: usize = 100_000;

fn within(what: &str, work: impl FnOnce() + Send + 'static) {
    let start = Instant::now();
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap_or_else(|_| panic!("{what} panicked"));
    let took = start.elapsed();
    println!("{what}: {took:?}");
    assert!(took < Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 }), "{what}: {took:?}");
}

#[test]
fn markdown_that_nests_without_an_end_is_drawn() {
    let lists: String = (0..700).map(|depth| format!("{}- x\n", "  ".repeat(depth % 350))).collect();
    let texts = [
        ("quotes", "> ".repeat(DEEP) + "x"),
        ("quotes in lines", (0..300).map(|depth| format!("{}x\n", ">".repeat(depth))).collect()),
        ("lists", "- ".repeat(DEEP) + "x"),
        ("lists in lines", lists),
        ("quotes and lists", "> - ".repeat(DEEP / 2) + "x"),
        ("emphasis", "*".repeat(DEEP) + "x" + &"*".repeat(DEEP)),
        ("emphasis apart", "*a **b ".repeat(DEEP / 8)),
        ("links", "[".repeat(DEEP) + "x" + &"](y)".repeat(DEEP / 4)),
        ("images", "![".repeat(DEEP) + "x"),
        ("brackets", "[a](".repeat(DEEP / 4)),
        ("code", "`".repeat(DEEP) + "x"),
        ("code of all lengths", (1..600).map(|n| "`".repeat(n) + "x ").collect()),
        ("tables", format!("|{}\n|{}\n", "a|".repeat(2_000), "-|".repeat(2_000)) + &"|a\n".repeat(1_000)),
        ("html", "<a ".repeat(DEEP / 2)),
        ("entities", "&".repeat(DEEP * 2)),
        ("one line", "x".repeat(250_000)),
    ];
    for (what, text) in texts {
        within(what, move || drop(markdown::render(&text, 80)));
    }
}

#[test]
fn commands_that_nest_without_an_end_are_read() {
    for open in [
        "$(",
        "\"$(",
        "`",
        "(",
        "{ ",
        "<(",
        "${x:-",
        "$((",
        "'",
        "\\",
        "if ",
        "case a in ",
        "f() ",
        "! ",
        "a=(",
        "<<E ",
        "env ",
        "sh -c \"",
    ] {
        for bytes in [1_000, 2_000, 20_000, 90_000, 200_000] {
            let text = open.repeat(bytes / open.len());
            within(&format!("{open:?} in {bytes} bytes"), move || assert!(split(&text).is_err() || !fragments(&text).is_empty()));
        }
    }
}
