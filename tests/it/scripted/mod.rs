//! The scripted model: the format's faults, the demonstration from beginning to end, the exercises, resuming.

mod demo;
mod format;
mod play;
mod team;
