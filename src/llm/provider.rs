//! A provider: any OpenAI-compatible server as a [`ChatModel`].

use super::call::{Call, Shared};
use super::compat::Book;
use super::gate::Gate;
use super::http::Endpoint;
use super::listing::{self, ModelListing};
use super::network::Network;
use super::openai::Link;
use super::{ChatModel, ChatRequest, ModelError, ModelStream};
use crate::domain::Timestamp;
use std::fmt;
use std::sync::Arc;

pub use super::base::normalise_base;
pub use super::settings::{OpenAiSettings, SendReasoning, SystemRole};

/// A provider. Clones share the gate and what was learnt.
#[derive(Clone)]
pub struct OpenAiModel {
    shared: Arc<Shared>,
}

impl fmt::Debug for OpenAiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiModel").field("name", &self.shared.settings.name).finish_non_exhaustive()
    }
}

impl OpenAiModel {
    /// A provider as `settings` say. [`ModelError::Setup`] when the address, the key or a header cannot be used, or when
    /// no TLS provider is installed. `clock` tells the wall time, for waits that are shown.
    pub fn new(settings: OpenAiSettings, clock: fn() -> Timestamp) -> Result<Self, ModelError> {
        let network = Network::default();
        let link = Link::new(Arc::new(Endpoint::new(&settings)?), &settings, clock, network.pulse());
        let shared = Shared { settings, link, network, gate: Gate::default(), book: Book::default(), clock };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The models that the server lists; their context windows are remembered.
    pub async fn models(&self) -> Result<Vec<ModelListing>, ModelError> {
        let endpoint = self.shared.link.endpoint();
        // There, so that the connection that it leaves open is one of the network's.
        let mut fetching = self.shared.network.run(async move { listing::fetch(&endpoint, listing::LIST_TIME).await })?;
        let list = fetching.end().await??;
        list.iter().filter_map(|model| Some((model, model.context_window?))).for_each(|(model, window)| {
            self.shared.book.set_window(&model.id, window);
        });
        Ok(list)
    }
}

impl ChatModel for OpenAiModel {
    fn stream(&self, request: ChatRequest) -> ModelStream {
        Call::new(self.shared.clone(), request).stream()
    }

    fn context_window(&self, model: &str) -> Option<u64> {
        self.shared.settings.windows.get(model).copied().or_else(|| self.shared.book.window(model))
    }

    fn name(&self) -> &str {
        &self.shared.settings.name
    }
}

/// The models that a server lists, within 10 s.
pub async fn models(settings: &OpenAiSettings) -> Result<Vec<ModelListing>, ModelError> {
    listing::fetch(&Endpoint::new(settings)?, listing::LIST_TIME).await
}
