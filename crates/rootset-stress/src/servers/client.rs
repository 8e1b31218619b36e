//! A client that repeats what got no answer, at the other server, under the same `Idempotency-Key`.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::error::StressError;

/// Where servers listen.
pub type Addresses = Vec<SocketAddr>;

/// A request must be through after so long: a start of a server, the lease of the dead (3 s), a queue of writers. What
/// takes longer is held by a process that died.
const PATIENCE: Duration = Duration::from_secs(45);
/// Between two tries, so that a client whose servers are both starting does not spin.
const PAUSE: Duration = Duration::from_millis(25);
/// Longer than anything that is asked here takes; a server that was killed closes its connections at once.
const ANSWER_WITHIN: Duration = Duration::from_secs(40);

#[derive(Debug)]
pub struct Client {
    agent: ureq::Agent,
    addresses: Addresses,
    /// Which of them is asked first.
    next: usize,
    name: String,
    requests: u64,
    pub repeated: u64,
    pub longest: Duration,
}

/// What a server answered in the end.
#[derive(Debug)]
pub struct Answered {
    pub status: u16,
    pub body: Value,
    /// Whether an earlier try may have happened without its answer reaching us.
    pub is_repeated: bool,
}

impl Answered {
    pub fn is_good(&self) -> bool {
        self.status == 200
    }

    pub fn refuse(self, operation: &'static str) -> StressError {
        StressError::Refused { operation, status: self.status, body: self.body.to_string() }
    }
}

impl Client {
    pub fn new(addresses: &Addresses, number: usize, seed: u64) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(ANSWER_WITHIN))
            .build()
            .new_agent();
        Self {
            agent,
            addresses: addresses.clone(),
            next: number,
            name: format!("{seed:x}-{number}"),
            requests: 0,
            repeated: 0,
            longest: Duration::ZERO,
        }
    }

    pub fn create_workspace(&mut self, workspace: &str) -> Result<(), StressError> {
        let operation = "create_workspace";
        let answered = self.ask(operation, &json!({ "workspace_id": workspace }))?;
        if answered.is_good() { Ok(()) } else { Err(answered.refuse(operation)) }
    }

    /// Asks until somebody answers for good. A server's own failure (5xx) does not count as an answer.
    pub fn ask(&mut self, operation: &'static str, request: &Value) -> Result<Answered, StressError> {
        self.requests += 1;
        let key = format!("{}-{}", self.name, self.requests);
        let start = Instant::now();
        let mut tries = 0_u64;
        loop {
            let outcome = self.send(operation, &key, request);
            let took = start.elapsed();
            match outcome {
                Ok((status, body)) if status < 500 => {
                    self.longest = self.longest.max(took);
                    return Ok(Answered { status, body, is_repeated: tries > 0 });
                }
                outcome if took > PATIENCE => {
                    let last = outcome.map_or_else(|error| error.to_string(), |(_, body)| body.to_string());
                    return Err(StressError::NoAnswer { operation, seconds: took.as_secs(), last });
                }
                _ => {}
            }
            tries += 1;
            self.repeated += 1;
            self.next += 1;
            std::thread::sleep(PAUSE);
        }
    }

    fn send(&self, operation: &str, key: &str, request: &Value) -> Result<(u16, Value), ureq::Error> {
        let address = self.addresses[self.next % self.addresses.len()];
        let mut response = self
            .agent
            .post(format!("http://{address}/v1/{operation}"))
            .header("Idempotency-Key", key)
            .send_json(request)?;
        let status = response.status().as_u16();
        Ok((status, response.body_mut().read_json()?))
    }
}
