//! A thousand members: a step costs at most n log n, so four times the members cost far less than sixteen times as much.

use super::rig::Rig;
use signoff::collaboration::{Input, MemberCard, ProtocolConfig};
use signoff::domain::MemberName;
use std::time::{Duration, Instant};

fn members(count: usize) -> Vec<MemberCard> {
    let card = |n: usize| MemberCard::new(MemberName::parse(&format!("m{n}")).unwrap(), "tester").able(&["rust", "sql"]);
    (0..count).map(card).collect()
}

fn rig(protocol: &str, count: usize) -> Rig {
    Rig::with(protocol, members(count), ProtocolConfig::default(), Some(1_000_000))
}

#[expect(clippy::disallowed_methods, reason = "measures how long a step takes")]
fn measured(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

/// The time of one bidding round, a step.
fn bidding(count: usize) -> Duration {
    let mut rig = rig("contract_net", count).prompt("write rust and sql");
    rig.lead_tool("call_for_bids", &[("requirement", "write rust and sql".into())]);
    assert_eq!(rig.runs().len(), count);
    let spent = measured(|| {
        for n in 0..count {
            let name = MemberName::parse(&format!("m{n}")).unwrap();
            rig.send(Input::ended(&name, "")).unwrap();
        }
    });
    assert!(rig.asked().is_some());
    spent / u32::try_from(count).unwrap()
}

/// The time of a swarm's step, from one task to the next.
fn swarming(count: usize) -> Duration {
    let mut rig = rig("swarm", count).prompt("go");
    let tasks: Vec<String> = (0..32).map(|n| format!("\"task {n}\"")).collect();
    rig.end("m0", &format!("@emerge_tasks {{\"tasks\": [{}]}}", tasks.join(", ")));
    measured(|| {
        for n in 0..31 {
            let who = rig.runs()[0].clone();
            rig.end(&who, &format!("did {n}"));
        }
    }) / 31
}

/// The least of several: noise of a busy machine only ever adds.
fn least(measure: fn(usize) -> Duration, count: usize) -> f64 {
    (0..3).map(|_| measure(count)).min().unwrap().as_secs_f64()
}

#[test]
fn a_step_with_many_members_costs_at_most_n_log_n() {
    for (what, measure) in [("bidding", bidding as fn(usize) -> Duration), ("swarm", swarming)] {
        // n log n gives a factor of 5, a square 16. A fault of that kind shows every time, noise does not.
        let factor = |_| least(measure, 2_000) / least(measure, 500).max(2e-6);
        let factors: Vec<f64> = (0..5).map(factor).take_while(|factor| *factor >= 10.0).collect();
        assert!(factors.len() < 5, "{what}: four times the members cost {factors:?} times as much");
    }
}
