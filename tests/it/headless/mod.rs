//! `signoff run` from outside: the real binary, a model server on loopback, no terminal.

mod ends;
mod limits;
pub mod rig;
mod spending;
mod team;
mod verdicts;
