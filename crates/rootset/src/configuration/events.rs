//! Where events go: a file, a webhook, both or neither.

use std::path::PathBuf;

use rootset_provider::Secret;
use rootset_service::ServiceError;

use super::{Reader, secret};

#[derive(Clone, Debug, Default)]
pub struct EventConfiguration {
    pub file: Option<PathBuf>,
    pub webhook: Option<WebhookConfiguration>,
}

#[derive(Clone, Debug)]
pub struct WebhookConfiguration {
    pub url: String,
    secret_variable: String,
}

impl WebhookConfiguration {
    /// Asked for by those who deliver: other commands share the configuration and need no secret.
    pub fn secret(&self) -> Result<Secret, ServiceError> {
        secret("events.webhook.secret_env", &self.secret_variable, "remove `events.webhook`")
    }
}

impl Reader {
    pub(super) fn events(&self) -> Result<EventConfiguration, ServiceError> {
        let webhook = match self.text("events.webhook.url") {
            Some(url) => {
                let secret_variable = self.needed("events.webhook.url", &url, "events.webhook.secret_env")?;
                Some(WebhookConfiguration { url, secret_variable })
            }
            None => None,
        };
        Ok(EventConfiguration { file: self.text("events.file").map(Into::into), webhook })
    }
}
