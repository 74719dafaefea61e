//! The embedded demonstration: its script, its sample project, and what its team must be allowed to do.

/// The script that [`super::ScriptedModel::demo`] plays.
pub const SCRIPT: &str = include_str!("../../../assets/demo/demo.toml");

/// What the person asks for: to be sent to the lead as a human message.
pub const GOAL: &str = "Make ./check.sh pass. Ask me before the price table is touched.";

/// Command patterns that the demonstration runs, for the permission rules of its team.
pub const ALLOWED_COMMANDS: [&str; 3] = ["sh check.sh*", "sh invoice.sh*", "rm -f data/prices.txt"];

/// A file of the sample project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectFile {
    /// Relative to the project's directory, with `/`.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

impl ProjectFile {
    /// Whether a person runs it by its path, so that it should be executable.
    pub fn is_program(&self) -> bool {
        !self.path.contains('/') && self.path.ends_with(".sh")
    }
}

macro_rules! project {
    ($($path:literal),* $(,)?) => {
        &[$(ProjectFile { path: $path, text: include_str!(concat!("../../../assets/demo/project/", $path)) }),*]
    };
}

/// The sample project, to be written into an empty directory.
pub const PROJECT: &[ProjectFile] = project![
    "README.md",
    "check.sh",
    "data/prices.txt",
    "invoice.sh",
    "lib/discount.sh",
    "lib/money.sh",
    "lib/prices.sh",
    "lib/totals.sh",
    "orders/small.txt",
    "orders/standard.txt",
    "tests/discount.sh",
    "tests/expect.sh",
    "tests/invoice.sh",
    "tests/money.sh",
    "tests/orders/cut.txt",
    "tests/orders/many.txt",
    "tests/orders/two.txt",
    "tests/prices.sh",
    "tests/tax.sh",
    "tests/totals.sh",
];
