#![no_main]

#[allow(dead_code, reason = "each target calls one of them")]
#[path = "../../tests/it/durability/entries.rs"]
mod entries;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entries::task(bytes));
