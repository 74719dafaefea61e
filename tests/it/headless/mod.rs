//! `signoff run` from outside: the real binary, a model server on loopback, no terminal.

mod canary;
mod ends;
mod floods;
mod limits;
pub mod rig;
mod spending;
mod team;
mod verdicts;
