//! What a run keeps on disk: a snapshot after each step, and what the protocol keeps beyond the run.

use super::super::{RETRIES, Supervisor};
use crate::collaboration::{ArgValue, Engine, EngineSnapshot, ProtocolConfig, build};
use crate::domain::MemberName;
use crate::store::{Expect, Key, PutOf};

/// The entity that holds a run between restarts: `team/snapshot.json`.
const SNAPSHOT: &str = "snapshot";
/// The prices of `market_based`: `team/market.json`.
const MARKET: &str = "market";

impl Supervisor {
    /// The run that an earlier process left, if it had not ended. The error names the file and what to do.
    pub(super) fn load_run(&self) -> Result<Option<Engine>, String> {
        let fault = |why: String| format!("team/{SNAPSHOT}.json: {why}; the run it holds is left alone, a new goal starts over");
        let Some(value) = self.load(SNAPSHOT)? else { return Ok(None) };
        let snapshot: EngineSnapshot = serde_json::from_value(value).map_err(|e| fault(e.to_string()))?;
        if snapshot.protocol() != self.core.protocol() {
            return Ok(None);
        }
        let protocol = build(self.core.protocol(), self.protocol_config()?).map_err(|e| fault(e.to_string()))?;
        let engine = Engine::restore(protocol, snapshot).map_err(|e| fault(e.to_string()))?;
        Ok(Some(engine).filter(Engine::is_running))
    }

    /// The settings of the protocol, with what it kept from earlier runs.
    pub(super) fn protocol_config(&self) -> Result<ProtocolConfig, String> {
        let kept = self.load(MARKET)?;
        let market: Option<ArgValue> = kept.map(serde_json::from_value).transpose().map_err(|e| format!("team/{MARKET}.json: {e}"))?;
        Ok(ProtocolConfig { market, ..self.env.protocol_config.clone() })
    }

    fn load(&self, name: &str) -> Result<Option<serde_json::Value>, String> {
        let key = MemberName::parse(name).map_err(|e| e.to_string())?;
        let kept = self.env.store.memory(&key).map_err(|e| format!("team/{name}.json: {e}"))?;
        Ok(kept.map(|(value, _)| value))
    }

    /// Saves the run after each step, so that it goes on where it stopped; and what the protocol keeps beyond it.
    pub(super) fn save_run(&mut self) {
        let Some(engine) = self.drive.engine.as_ref() else { return };
        let mut kept = vec![(SNAPSHOT, serde_json::to_value(engine.snapshot()))];
        kept.extend(engine.keepsake().map(|(name, value)| (name, serde_json::to_value(value))));
        for (name, value) in kept {
            let saved = value.map_err(|e| e.to_string()).and_then(|value| self.save(name, &value));
            if let Err(error) = saved {
                self.notice_store(&format!("team/{name}.json: {error}"));
            }
        }
    }

    fn save(&self, name: &str, value: &serde_json::Value) -> Result<(), String> {
        let key = MemberName::parse(name).map_err(|e| e.to_string())?;
        let mut expect = match self.env.store.memory(&key) {
            Ok(Some((_, revision))) => Expect::At(revision),
            Ok(None) => Expect::Absent,
            // What cannot be read is kept aside; the run goes on, and its next step is saved.
            Err(error) if error.is_damage() => {
                self.env.store.set_aside(&Key::Memory(key.clone())).map_err(|e| e.to_string())?;
                Expect::Absent
            }
            Err(error) => return Err(error.to_string()),
        };
        for _ in 0..RETRIES {
            match self.env.store.put_memory(&key, value, expect).map_err(|e| e.to_string())? {
                PutOf::Applied(_) => return Ok(()),
                PutOf::Lost(Some((_, revision))) => expect = Expect::At(revision),
                PutOf::Lost(None) => expect = Expect::Absent,
            }
        }
        Err("another process keeps changing it".into())
    }
}
