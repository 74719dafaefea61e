//! The command line: parsing, printing, the real program with its exit codes, runs without a screen, and the team through its files.

mod binary;
mod choose;
mod demo;
mod headless;
mod parse;
mod print;
mod remote;
