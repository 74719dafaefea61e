//! signoff: a full-screen terminal application that runs and supervises a team of coding agents.
//!
//! The house has seven floors; a room imports only rooms below it (a test checks that):
//!
//! ```text
//!  7  main.rs, cli/                  composition root: the only place that names concrete backends
//!  6  tui/                           ratatui, crossterm
//!  5  config/                        serde, toml
//!  4  runtime/ (tokio)   |  app/     app is the screen's state, pure; neither imports the other
//!  3  protocol/                      pure machines: member turn, requests, claim, team core
//!  2  store/ | llm/ | tool/ | collaboration/     ports with their adapters; collaboration is pure
//!  1  domain/                        nouns
//! ```

pub mod app;
pub mod cli;
pub mod collaboration;
pub mod config;
pub mod domain;
pub mod llm;
pub mod protocol;
pub mod runtime;
pub mod store;
pub mod tool;
pub mod tui;
