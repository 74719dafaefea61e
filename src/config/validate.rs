//! Checks that need more than a type: ranges, and names of a closed list.

use super::error::ConfigError;
use super::fields::dotted;
use super::provenance::{Origin, Provenance};
use super::values::Config;
use crate::collaboration::{Custom, grouping};
use crate::domain::names::nearest;

/// The shortest tool output that still tells a model something, in characters.
const OUTPUT_MIN: usize = 200;
/// The longest tool output that is kept in memory, in characters.
const OUTPUT_MAX: usize = 10_000_000;

/// The first value that is out of range.
pub(super) fn check(config: &Config, provenance: &Provenance, protocols: &[&str]) -> Result<(), ConfigError> {
    let wrong = |path: &[&str], expected: String, found: String| {
        let place = match provenance.of(path) {
            Origin::Default => "settings".to_owned(),
            origin @ (Origin::User { .. } | Origin::Workspace { .. } | Origin::Environment(_) | Origin::Flag(_)) => origin.to_string(),
        };
        Err(ConfigError::Value { place, key: dotted(path), expected, found })
    };
    let team = &config.team;
    let from_one: [(&[&str], u64); 3] = [
        (&["limits", "poll_interval"], team.poll_interval),
        (&["limits", "round_cap"], team.round_cap.into()),
        (&["limits", "max_members"], team.max_members as u64),
    ];
    for (path, value) in from_one {
        if value == 0 {
            return wrong(path, "a whole number from 1 up".into(), "0".into());
        }
    }
    if team.output_limit < OUTPUT_MIN {
        return wrong(&["limits", "output_limit"], format!("a whole number from {OUTPUT_MIN} up"), team.output_limit.to_string());
    }
    if team.output_limit > OUTPUT_MAX {
        return wrong(&["limits", "output_limit"], format!("a whole number up to {OUTPUT_MAX}"), team.output_limit.to_string());
    }
    for (name, provider) in &config.providers {
        let times = [
            ("first_byte_timeout", provider.first_byte_timeout),
            ("idle_timeout", provider.idle_timeout),
            ("max_tries", provider.max_tries.into()),
        ];
        if let Some((key, _)) = times.into_iter().find(|(_, value)| *value == 0) {
            return wrong(&["providers", name, key], "a whole number from 1 up".into(), "0".into());
        }
    }
    if !config.provider.is_empty() && config.provider != "scripted" && !config.providers.contains_key(&config.provider) {
        let known = config.providers.keys().map(String::as_str).chain(["scripted"]);
        return wrong(&["model", "provider"], one_of(known, &config.provider), format!("{:?}", config.provider));
    }
    if !(config.graph.nodes.is_empty() && config.graph.edges.is_empty())
        && let Err(error) = Custom::new(config.graph.clone())
    {
        return wrong(&["team", "graph", "nodes"], "a graph that can be followed".into(), error.to_string());
    }
    if let Err((name, key, reason)) = grouping::check(&team.teams) {
        // What is missing stands nowhere: then the place is that of what is there.
        let is_set = |key: &&str| provenance.of(&["team", "teams", &name, key]) != Origin::default();
        let key = [key, "protocol", "members", "max_turns"].into_iter().find(is_set).unwrap_or(key);
        return wrong(&["team", "teams", &name, key], "a team that can work".into(), reason);
    }
    if !protocols.contains(&team.protocol.as_str()) {
        return wrong(&["team", "protocol"], one_of(protocols.iter().copied(), &team.protocol), format!("{:?}", team.protocol));
    }
    Ok(())
}

fn one_of<'a>(known: impl Iterator<Item = &'a str> + Clone, wrong: &str) -> String {
    let hint = nearest(wrong, known.clone()).map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
    format!("one of {}{hint}", known.collect::<Vec<_>>().join(", "))
}
