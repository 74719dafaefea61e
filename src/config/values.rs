//! What can be set, as values with their defaults. The team's part is `domain::TeamSettings`.

use crate::collaboration::{Choice, Graph, ProtocolConfig};
use crate::domain::TeamSettings;
use crate::llm::settings::{OpenAiSettings, SendReasoning, SystemRole};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// All settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Which of `providers` is asked, or `scripted`. Empty: the first that works is chosen.
    pub provider: String,
    /// The model's name as the server knows it. Empty: the provider's.
    pub model: String,
    /// The script that the scripted model plays; `None` is the bundled one.
    pub script: Option<PathBuf>,
    /// Known servers by name.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// The team's rules and limits.
    pub team: TeamSettings,
    /// The graph that protocol `none` follows; without nodes it follows none.
    pub graph: Graph,
    /// Who awards work with protocol `market_based`.
    pub market_choice: Choice,
    /// The screen.
    pub screen: ScreenConfig,
    /// Whether writes wait for the disk.
    pub fsync: bool,
    /// What is logged: a level, or `target=level` parts separated by commas.
    pub log: String,
}

impl Config {
    /// What the protocols are set up with.
    pub fn protocol_config(&self) -> ProtocolConfig {
        let graph = (!self.graph.nodes.is_empty()).then(|| self.graph.clone());
        ProtocolConfig { graph, choice: self.market_choice, market: None }
    }
}

/// A server that speaks Chat Completions. Its key is never part of the settings.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderConfig {
    /// With or without `/v1` and trailing slash.
    pub base_url: String,
    /// The environment's variable that holds the key. Empty: no key is sent.
    pub api_key_env: String,
    /// A shell command that prints the key; asked when the variable is not set.
    pub api_key_cmd: String,
    /// The model to ask when none is named.
    pub model: String,
    /// Seconds until the first byte of an answer.
    pub first_byte_timeout: u64,
    /// Longest silence within an answer, in seconds.
    pub idle_timeout: u64,
    /// Tries of one call, the first included.
    pub max_tries: u32,
    /// Whether reasoning is sent back with tool calls.
    pub send_reasoning: SendReasoning,
    /// The role of standing instructions.
    pub system_role: SystemRole,
    /// Tokens that fit into its models; 0 = as the server says.
    pub context_window: u64,
    /// Headers beside our own. A value `$NAME` is the environment's variable of that name.
    pub headers: Headers,
    /// Fields added to the body of every request.
    pub extra_body: toml::Table,
}

/// Headers by name. Their values may be secrets: they are never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(pub BTreeMap<String, String>);

impl std::fmt::Debug for Headers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Whether symbols outside ASCII are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AsciiMode {
    /// As the locale allows.
    #[default]
    Auto,
    /// ASCII only.
    Always,
    /// All symbols.
    Never,
}

/// The screen.
#[derive(Clone, Debug, PartialEq)]
pub struct ScreenConfig {
    /// A bundled theme's name, or the path of a theme file.
    pub theme: String,
    /// Take the mouse.
    pub mouse: bool,
    /// Use colours.
    pub color: bool,
    /// ASCII symbols.
    pub ascii: AsciiMode,
    /// One line an event instead of the full screen.
    pub plain: bool,
    /// Ring and notify when something needs the person and the window has no focus.
    pub notify: bool,
    /// A file that overrides keys, laid out as `assets/keymap.toml`.
    pub keymap: Option<PathBuf>,
    /// Keys by context and action, instead of `keymap`.
    pub keys: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

impl ScreenConfig {
    /// `keys` in the layout of `assets/keymap.toml`; `None` when nothing is overridden.
    pub fn keys_as_keymap(&self) -> Option<String> {
        let section = |actions: &BTreeMap<String, Vec<String>>| {
            let action =
                |(name, keys): (&String, &Vec<String>)| (name.clone(), toml::Value::from(BTreeMap::from([("keys", keys.clone())])));
            toml::Value::Table(actions.iter().map(action).collect())
        };
        let table: toml::Table = self.keys.iter().map(|(context, actions)| (context.clone(), section(actions))).collect();
        (!table.is_empty()).then(|| table.to_string())
    }
}

impl Default for ScreenConfig {
    fn default() -> Self {
        Self {
            theme: "default".into(),
            mouse: true,
            color: true,
            ascii: AsciiMode::Auto,
            plain: false,
            notify: true,
            keymap: None,
            keys: BTreeMap::new(),
        }
    }
}

impl Default for ProviderConfig {
    fn default() -> Self {
        let usual = OpenAiSettings::default();
        Self {
            base_url: String::new(),
            api_key_env: String::new(),
            api_key_cmd: String::new(),
            model: String::new(),
            first_byte_timeout: usual.first_byte_timeout.as_secs(),
            idle_timeout: usual.idle_timeout.as_secs(),
            max_tries: usual.max_tries,
            send_reasoning: usual.send_reasoning,
            system_role: usual.system_role,
            context_window: 0,
            headers: Headers::default(),
            extra_body: toml::Table::new(),
        }
    }
}

/// Servers that need no entry in a file: name, address, variable of the key, model.
const KNOWN: [(&str, &str, &str, &str); 7] = [
    ("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-5-mini"),
    ("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", ""),
    ("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek-chat"),
    ("ollama", "http://127.0.0.1:11434/v1", "", ""),
    ("lmstudio", "http://127.0.0.1:1234/v1", "", ""),
    ("llamacpp", "http://127.0.0.1:8080/v1", "", ""),
    ("vllm", "http://127.0.0.1:8000/v1", "", ""),
];

impl Default for Config {
    fn default() -> Self {
        let known = |(name, base_url, key, model): (&str, &str, &str, &str)| {
            let provider =
                ProviderConfig { base_url: base_url.into(), api_key_env: key.into(), model: model.into(), ..ProviderConfig::default() };
            (name.to_owned(), provider)
        };
        Self {
            provider: String::new(),
            model: String::new(),
            script: None,
            providers: KNOWN.into_iter().map(known).collect(),
            team: TeamSettings::default(),
            graph: Graph::default(),
            market_choice: Choice::default(),
            screen: ScreenConfig::default(),
            fsync: true,
            log: "info".into(),
        }
    }
}
