//! Requests: one file each, so that exactly one of many answers wins.

use super::{Fault, Loaded, PutOf, TeamStore, UpdateError};
use crate::domain::{Refusal, Request, RequestId};
use crate::store::{Expect, Key, KeyKind, Revision, StoreError};

/// The file's name decides which request it is.
fn adopt(key: &Key, mut request: Request) -> (Request, Option<Fault>) {
    match key {
        Key::Request(id) if *id != request.id => {
            let remark = Fault::new(key, format_args!("says it is request {}; taken as {id}, as the file is named", request.id));
            request.id = id.clone();
            (request, Some(remark))
        }
        Key::Request(_) | Key::Task(_) | Key::Team | Key::Memory(_) => (request, None),
    }
}

impl TeamStore {
    /// All requests by id, with what is wrong with the others.
    pub fn requests(&self) -> Result<Loaded<Request>, StoreError> {
        self.load(KeyKind::Requests, adopt)
    }

    /// A request. A file that does not parse is an error that says so.
    pub fn request(&self, id: &RequestId) -> Result<Option<(Request, Revision)>, StoreError> {
        let key = Key::Request(id.clone());
        Ok(self.get(&key)?.map(|(request, revision)| (adopt(&key, request).0, revision)))
    }

    /// Writes a request if what is there is as expected. `Expect::Absent` that is lost means: draw another id.
    pub fn put_request(&self, request: &Request, expect: Expect) -> Result<PutOf<Request>, StoreError> {
        self.put(&Key::Request(request.id.clone()), request, expect)
    }

    /// Changes a request by a rule, which is asked again about what is there when somebody else was quicker: of many
    /// answers at once, one is applied and the rule refuses the others.
    pub fn update_request(
        &self,
        id: &RequestId,
        mut rule: impl FnMut(&Request) -> Result<Request, Refusal>,
    ) -> Result<(Request, Revision), UpdateError> {
        let key = Key::Request(id.clone());
        self.update(&key, |there: Option<&Request>| {
            let there = there.ok_or_else(|| Refusal::UnknownRequest(id.to_string()))?;
            let (request, _) = adopt(&key, there.clone());
            Ok(Request { id: id.clone(), ..rule(&request)? })
        })
    }
}
