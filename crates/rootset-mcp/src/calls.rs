//! One call of the service, moved off the asynchronous threads.
//!
//! A call that was begun is carried out: every change of the service is one transaction, and half-done work is worth
//! less than done work. Cancelling therefore drops the answer, not the work.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use rootset_api::ErrorCode;
use rootset_service::{Caller, PerCaller, Service, ServiceError};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinError;
use tokio_util::task::TaskTracker;

use crate::progress;

/// So many calls run at once; others wait for their turn. The database has one writer anyway.
const CALLS_AT_ONCE_MAX: usize = 32;
/// Of one client or token: one that calls a lot waits for itself.
const CALLS_OF_ONE_MAX: usize = 8;

#[derive(Clone, Debug)]
pub struct Calls {
    service: Arc<Service>,
    running: TaskTracker,
    turns: Arc<Semaphore>,
    turns_of: Arc<PerCaller<Semaphore>>,
}

/// The client does not want the answer any more.
#[derive(Debug)]
pub struct Cancelled;

impl Calls {
    pub fn new(service: Arc<Service>) -> Self {
        Self {
            service,
            running: TaskTracker::new(),
            turns: Arc::new(Semaphore::new(CALLS_AT_ONCE_MAX)),
            turns_of: Arc::new(PerCaller::new(|| Semaphore::new(CALLS_OF_ONE_MAX))),
        }
    }

    pub async fn call(
        &self,
        caller: Caller,
        operation: &str,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Result<Value, ServiceError>, Cancelled> {
        let turn = tokio::select! {
            biased;
            () = context.ct.cancelled() => return Err(Cancelled),
            turn = self.turn(&caller.actor) => turn,
        };
        let (progress, mut teller) = progress::channel(context);
        let (service, operation) = (self.service.clone(), operation.to_owned());
        let caller = Caller { progress, ..caller };
        let mut work = self.running.spawn_blocking(move || {
            let _turn = turn;
            service.call(&caller, &operation, arguments)
        });
        let answer = loop {
            let look = async {
                match &mut teller {
                    Some(teller) => teller.wait().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = context.ct.cancelled() => return Err(Cancelled),
                answer = &mut work => break answer,
                () = look => {}
            }
            // Outside the choice: what is being told is told to its end, so that the answer comes after it.
            if let Some(teller) = &mut teller {
                teller.look().await;
            }
        };
        if let Some(teller) = &mut teller {
            teller.tell_latest().await;
        }
        Ok(answer.unwrap_or_else(|error| Err(died(&error))))
    }

    /// The caller's own first: nobody stands in the queue of all more often than it may call at once.
    async fn turn(&self, actor: &str) -> [OwnedSemaphorePermit; 2] {
        const OPEN: &str = "the semaphores are never closed";
        let own = self.turns_of.of(actor).acquire_owned().await.expect(OPEN);
        [own, self.turns.clone().acquire_owned().await.expect(OPEN)]
    }

    /// Until nothing runs any more.
    pub async fn finished(&self) {
        self.running.close();
        self.running.wait().await;
    }
}

/// A panic in an operation is our fault; the server lives on, and the transaction was rolled back.
fn died(error: &JoinError) -> ServiceError {
    tracing::error!(%error, "an operation died");
    ServiceError::new(ErrorCode::Internal, "the operation crashed; its changes were not written")
}
