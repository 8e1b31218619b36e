//! Which requests are let in: first it is found out who asks, then that asker's own share is taken, and only then a place
//! among all requests. Somebody with a wrong token takes nothing, somebody with a right one no more than a share.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use rootset_service::{Caller, PerCaller, Service};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::access::Credentials;
use crate::answer::Refusal;
use crate::settings::ServerSettings;
use crate::workers::{Share, Workers};
use crate::wrong_tokens::WrongTokens;

/// Who asks, and under which name its share of everything is kept.
#[derive(Clone, Debug)]
pub struct Asker {
    pub caller: Caller,
    pub key: Arc<str>,
}

/// What a request takes until it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A place among all requests.
    Place,
    /// An event stream lasts as long as its client: it has a number of its own.
    Stream,
}

/// Given back when dropped.
#[derive(Debug)]
pub struct Permits {
    _own: OwnedSemaphorePermit,
    _place: Option<OwnedSemaphorePermit>,
}

#[derive(Debug)]
pub struct Admission {
    requests_max: usize,
    per_token_max: usize,
    per_address_max: usize,
    places: Arc<Semaphore>,
    of_token: PerCaller<Semaphore>,
    streams_of_token: PerCaller<Semaphore>,
    of_address: PerCaller<Semaphore>,
    wrong_tokens: WrongTokens,
}

impl Admission {
    pub fn new(settings: &ServerSettings) -> Self {
        let (per_token_max, per_address_max) = (settings.requests_per_token_max, settings.requests_per_address_max);
        Self {
            requests_max: settings.requests_max,
            per_token_max,
            per_address_max,
            places: Arc::new(Semaphore::new(settings.requests_max)),
            of_token: PerCaller::new(move || Semaphore::new(per_token_max)),
            streams_of_token: PerCaller::new(move || Semaphore::new(per_token_max)),
            of_address: PerCaller::new(move || Semaphore::new(per_address_max)),
            wrong_tokens: WrongTokens::new(settings.wrong_tokens_per_minute_max),
        }
    }

    /// Who asks. Only a token that was not looked up a moment ago needs a look into the database.
    pub async fn asker(
        &self,
        service: &Arc<Service>,
        workers: &Workers,
        address: IpAddr,
        credentials: Credentials,
    ) -> Result<Asker, Refusal> {
        if let Some(caller) = credentials.caller_at_once(service)? {
            return Ok(Asker::new(caller, &credentials, address));
        }
        let token = credentials.fingerprint();
        if !self.wrong_tokens.may_try(address, &token, Instant::now()) {
            return Err(Refusal::too_many_wrong_tokens());
        }
        let (service, from) = (service.clone(), address.to_string());
        let looking_up = workers.run(Share::LookUps, &from, move || {
            credentials.caller(&service).map(|caller| Asker::new(caller, &credentials, address))
        });
        let asker = looking_up.await??;
        self.wrong_tokens.was_right(address, token);
        Ok(asker)
    }

    pub fn admit(&self, asker: &Asker, takes: Takes) -> Result<Permits, Refusal> {
        match takes {
            Takes::Place => {
                let own = self.of_token.of(&asker.key).try_acquire_owned();
                let own = own.map_err(|_| Refusal::own_share_taken("requests", self.per_token_max))?;
                Ok(Permits { _own: own, _place: Some(self.place()?) })
            }
            Takes::Stream => {
                let own = self.streams_of_token.of(&asker.key).try_acquire_owned();
                let own = own.map_err(|_| Refusal::own_share_taken("event streams", self.per_token_max))?;
                Ok(Permits { _own: own, _place: None })
            }
        }
    }

    /// For what needs no token.
    pub fn admit_stranger(&self, address: IpAddr) -> Result<Permits, Refusal> {
        let own = self.of_address.of(&address.to_string()).try_acquire_owned();
        let own = own.map_err(|_| Refusal::own_share_taken("requests without a token", self.per_address_max))?;
        Ok(Permits { _own: own, _place: Some(self.place()?) })
    }

    pub fn running(&self) -> usize {
        self.requests_max.saturating_sub(self.places.available_permits())
    }

    fn place(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        self.places.clone().try_acquire_owned().map_err(|_| {
            let limit = self.requests_max;
            Refusal::busy(format!("{limit} requests are running, as many as allowed"), "try again")
        })
    }
}

impl Asker {
    fn new(caller: Caller, credentials: &Credentials, address: IpAddr) -> Self {
        // Where no token is needed, an address is all there is to tell askers apart.
        let key = if credentials.are_needed() { caller.actor.as_str().into() } else { address.to_string().into() };
        Self { caller, key }
    }
}
