//! The team core and the turn machine, without a clock, files or tasks.

mod board;
mod conversation;
mod faults;
mod files;
mod finishing;
mod outside;
mod lifecycle;
mod plans;
mod shutdown;
mod turn;
mod world;
