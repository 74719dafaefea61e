//! What a step costs: a bidding round and a swarm's pool, by the number of members.
#![expect(clippy::expect_used, reason = "a bench that cannot be set up shall stop")]

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use signoff::collaboration::{Directive, Engine, EngineConfig, Input, MemberCard, ProtocolConfig, build};
use signoff::domain::{MemberName, Timestamp};

fn name(n: usize) -> MemberName {
    MemberName::parse(&format!("m{n}")).expect("a name")
}

fn engine(protocol: &str, count: usize) -> Engine {
    let members = (0..count).map(|n| MemberCard::new(name(n), "tester").able(&["rust"])).collect();
    let config = EngineConfig { max_turns: Some(u32::MAX) };
    let mut engine = Engine::new(build(protocol, ProtocolConfig::default()).expect("a protocol"), members, config).expect("a team");
    send(&mut engine, Input::Prompt("write rust".into()));
    engine
}

fn send(engine: &mut Engine, input: Input) -> Vec<Directive> {
    engine.handle(input, Timestamp(0)).expect("fits")
}

fn who(directives: &[Directive]) -> Option<MemberName> {
    directives.iter().find_map(|directive| if let Directive::RunMember { name, .. } = directive { Some(name.clone()) } else { None })
}

fn bidding(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bidding round");
    group.sample_size(20);
    for count in [100, 1_000] {
        let ready = || {
            let mut engine = engine("contract_net", count);
            send(&mut engine, Input::SupervisorAnswered { text: "@call_for_bids rust".into() });
            engine
        };
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter_batched(
                ready,
                |mut engine| (0..count).for_each(|n| drop(send(&mut engine, Input::ended(&name(n), "")))),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn swarm(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("swarm, 32 tasks");
    group.sample_size(20);
    let tasks: Vec<String> = (0..32).map(|n| format!("\"task {n}\"")).collect();
    let first = format!("@emerge_tasks {{\"tasks\": [{}]}}", tasks.join(", "));
    for count in [100, 1_000] {
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            let run = |mut engine: Engine| {
                let mut out = send(&mut engine, Input::ended(&name(0), first.clone()));
                while let Some(name) = who(&out) {
                    out = send(&mut engine, Input::ended(&name, "did it"));
                }
            };
            bencher.iter_batched(|| engine("swarm", count), run, BatchSize::LargeInput);
        });
    }
    group.finish();
}

criterion_group!(benches, bidding, swarm);
criterion_main!(benches);
