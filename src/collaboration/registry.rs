//! The one list of protocols. Settings, help, completion, tests and the simulation read it.

use super::{
    ArgValue, CollaborationError, CollaborationProtocol, Custom, Graph, ProtocolTool, a2a, autonomous, bid, blackboard, contract_net,
    hierarchical, market_based, none, sequential, swarm, sync, tools,
};
use crate::domain::names::nearest;
use serde::{Deserialize, Serialize};

/// Settings of protocols; each reads what concerns it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProtocolConfig {
    /// For `none`: the graph that the run follows.
    pub graph: Option<Graph>,
    /// For `market_based`: who awards.
    pub choice: market_based::Choice,
    /// For `market_based`: prices of earlier runs, as [`super::Engine::keepsake`] gave them (`team/market.json`).
    pub market: Option<ArgValue>,
}

/// A protocol in words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProtocolInfo {
    /// As it is chosen.
    pub name: &'static str,
    /// What it is for, in one line.
    pub summary: &'static str,
    /// Its graph, in words.
    pub graph: &'static str,
    /// Who acts next, and when it ends.
    pub rules: &'static str,
    /// The tools it adds for members.
    pub agent_tools: &'static [ProtocolTool],
    /// The tools it offers to the supervisor.
    pub supervisor_tools: &'static [ProtocolTool],
}

type Build = fn(ProtocolConfig) -> Result<Box<dyn CollaborationProtocol>, CollaborationError>;

struct Entry {
    info: ProtocolInfo,
    build: Build,
}

const ENTRIES: &[Entry] = &[
    Entry {
        info: ProtocolInfo {
            name: "autonomous",
            summary: "members claim ready tasks from the board by themselves; the lead plans and reviews",
            graph: "none",
            rules: "idle members take mail first, then the first ready task; ends when the board has no open task",
            agent_tools: &[],
            supervisor_tools: &[],
        },
        build: |_| Ok(Box::new(autonomous::Autonomous)),
    },
    Entry {
        info: ProtocolInfo {
            name: "none",
            summary: "nobody acts by rule: the person or the lead sends work; or a graph of your own",
            graph: "none, or the configured nodes and edges",
            rules: "with a graph: start, members, fork and join, exclusive choice on the last output, end; ends when told so or at an end node",
            agent_tools: &[],
            supervisor_tools: &[],
        },
        build: |config| match config.graph {
            Some(graph) => Ok(Box::new(Custom::new(graph)?)),
            None => Ok(Box::new(none::NoRule)),
        },
    },
    Entry {
        info: ProtocolInfo {
            name: "sequential",
            summary: "a line: each member works on the output of the one before",
            graph: "start → members in registration order → end",
            rules: "registration order whatever the prompt says; an empty output or an error is tried once more, then the stage is FAILED",
            agent_tools: &[],
            supervisor_tools: &[],
        },
        build: |_| Ok(Box::<sequential::Sequential>::default()),
    },
    Entry {
        info: ProtocolInfo {
            name: "hierarchical",
            summary: "the lead decides each step and sees a dashboard of reports and errors",
            graph: "start → supervisor ↔ members, supervisor → end",
            rules: "ends with finish and no member in error; otherwise the failing member is assigned again",
            agent_tools: &[],
            supervisor_tools: &[tools::ROUTE_TO, tools::FINISH],
        },
        build: |_| Ok(Box::<hierarchical::Hierarchical>::default()),
    },
    Entry {
        info: ProtocolInfo {
            name: "contract_net",
            summary: "members bid, the lead awards the work to the best bid",
            graph: "start → supervisor → bidding → supervisor → winner → supervisor → end",
            rules: "no award without a bid; a member that does not answer gets a computed bid; at most 2 rounds; finish after the winner ran",
            agent_tools: &[bid::SUBMIT_PROPOSAL],
            supervisor_tools: &[bid::CALL_FOR_BIDS, tools::ROUTE_TO, tools::FINISH],
        },
        build: |_| Ok(Box::<contract_net::ContractNet>::default()),
    },
    Entry {
        info: ProtocolInfo {
            name: "swarm",
            summary: "tasks emerge from the work; whoever worked least lately takes the next one",
            graph: "start → first member → supervisor ↔ members, supervisor → end",
            rules: "a pool of at most 32 tasks, tagged ones first; pheromones −1 for all and +5 for who ran, the lowest acts; ends with an empty pool and finish",
            agent_tools: &[swarm::EMERGE_TASKS],
            supervisor_tools: &[swarm::EMERGE_TASKS, tools::ROUTE_TO, tools::FINISH],
        },
        build: |_| Ok(Box::<swarm::Swarm>::default()),
    },
    Entry {
        info: ProtocolInfo {
            name: "a2a",
            summary: "members hand over to each other directly, with a memo",
            graph: "start → first member, members ↔ members, members → supervisor → end",
            rules: "at most 5 transfers; a wrong target goes back to the sender, 3 such in a row at most; the supervisor closes",
            agent_tools: &[a2a::TRANSFER_TO],
            supervisor_tools: &[tools::FINISH],
        },
        build: |_| Ok(Box::<a2a::HandOver>::default()),
    },
    Entry {
        info: ProtocolInfo {
            name: "blackboard",
            summary: "members share results, todos and versioned state on a blackboard",
            graph: "start → supervisor ↔ members over shared state, supervisor → end",
            rules: "every member sees the blackboard; a stale write is reported; ends with finish, no open todo and no failed member",
            agent_tools: &[sync::SYNC],
            supervisor_tools: &[sync::SYNC, tools::ROUTE_TO, tools::FINISH],
        },
        build: |_| Ok(Box::<blackboard::Blackboard>::default()),
    },
    Entry {
        info: ProtocolInfo {
            name: "market_based",
            summary: "members have a price from quality, speed and demand; work goes to the best return or the lowest price",
            graph: "start → supervisor ↔ members, supervisor → end",
            rules: "choice = lead shows Top ROI and Budget Pick; roi or budget award by rule; ends as hierarchical",
            agent_tools: &[],
            supervisor_tools: &[tools::ROUTE_TO, tools::FINISH],
        },
        build: |config| Ok(Box::new(market_based::Market::new(config.choice, config.market.as_ref())?)),
    },
];

/// All names, in the order they are shown.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.info.name)
}

fn find(name: &str) -> Result<&'static Entry, CollaborationError> {
    let wanted = name.trim().to_lowercase().replace('-', "_");
    ENTRIES.iter().find(|entry| entry.info.name == wanted).ok_or_else(|| CollaborationError::UnknownProtocol {
        name: crate::domain::text::one_line(name, 80),
        nearest: nearest(&wanted, names()).map(str::to_owned),
        known: names().collect::<Vec<_>>().join(", "),
    })
}

/// A protocol in words; an unknown name is an error with the nearest one.
pub fn describe(name: &str) -> Result<ProtocolInfo, CollaborationError> {
    find(name).map(|entry| entry.info)
}

/// Whether a protocol has a tool of this name, so that a call out of turn can be told what it is.
pub fn is_tool(name: &str) -> bool {
    let has = |tools: &[ProtocolTool]| tools.iter().any(|tool| tool.name == name);
    ENTRIES.iter().any(|entry| has(entry.info.agent_tools) || has(entry.info.supervisor_tools))
}

/// A protocol ready for a team; an unknown name is an error with the nearest one.
pub fn build(name: &str, config: ProtocolConfig) -> Result<Box<dyn CollaborationProtocol>, CollaborationError> {
    (find(name)?.build)(config)
}
