//! The sandbox, tried from inside by hostile commands and by a developer's ordinary ones.

#![allow(clippy::disallowed_methods, reason = "a test measures time")]

mod child;
mod cost;
mod hostile;
mod kernel;
mod plug;
mod policy;
mod reduced;
mod tools;
mod yard;
