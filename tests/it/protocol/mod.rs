//! The team core and the turn machine, without a clock, files or tasks.

mod board;
mod conversation;
mod faults;
mod files;
mod finishing;
mod lifecycle;
mod outside;
mod plans;
mod reopening;
mod shutdown;
mod turn;
mod verdict_words;
mod world;
