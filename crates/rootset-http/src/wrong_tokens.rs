//! Who may try a token. Looking one up reads the database, so an address that brings wrong ones runs out of tries. Tokens
//! that were right once in this process cost no try: wrong ones of a neighbour keep nobody out who was already here.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::time::Instant;

use parking_lot::Mutex;

/// Addresses that are remembered; those that have all their tries are forgotten first.
const ADDRESSES_MAX: usize = 10_000;
/// Far more tokens than anybody creates.
const RIGHT_MAX: usize = 10_000;

pub type Fingerprint = [u8; 32];

#[derive(Debug)]
pub struct WrongTokens {
    per_minute_max: f64,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    tries: HashMap<IpAddr, Tries>,
    right: HashSet<Fingerprint>,
}

#[derive(Clone, Copy, Debug)]
struct Tries {
    left: f64,
    at: Instant,
}

impl WrongTokens {
    pub fn new(per_minute_max: usize) -> Self {
        Self { per_minute_max: per_minute_max as f64, known: Mutex::default() }
    }

    /// Takes a try, which [`Self::was_right`] gives back.
    pub fn may_try(&self, address: IpAddr, token: &Fingerprint, now: Instant) -> bool {
        let mut known = self.known.lock();
        if known.right.contains(token) {
            return true;
        }
        if known.tries.len() >= ADDRESSES_MAX && !known.tries.contains_key(&address) {
            known.tries.retain(|_, tries| self.refilled(*tries, now) < self.per_minute_max);
            // Somebody with that many addresses is stopped by the number of look-ups at once, not here.
            if known.tries.len() >= ADDRESSES_MAX {
                known.tries.clear();
            }
        }
        let tries = known.tries.entry(address).or_insert(Tries { left: self.per_minute_max, at: now });
        *tries = Tries { left: self.refilled(*tries, now), at: now };
        if tries.left < 1.0 {
            return false;
        }
        tries.left -= 1.0;
        true
    }

    pub fn was_right(&self, address: IpAddr, token: Fingerprint) {
        let mut known = self.known.lock();
        if known.right.contains(&token) {
            return;
        }
        if let Some(tries) = known.tries.get_mut(&address) {
            tries.left += 1.0;
        }
        if known.right.len() >= RIGHT_MAX {
            known.right.clear();
        }
        known.right.insert(token);
    }

    fn refilled(&self, tries: Tries, now: Instant) -> f64 {
        let minutes = now.saturating_duration_since(tries.at).as_secs_f64() / 60.0;
        (tries.left + minutes * self.per_minute_max).min(self.per_minute_max)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn wrong_tokens_use_up_the_tries_of_their_address_and_right_ones_do_not() {
        let (tokens, now) = (WrongTokens::new(3), Instant::now());
        let [bad, good]: [IpAddr; 2] = ["10.0.0.1", "10.0.0.2"].map(|it| it.parse().expect("an address"));
        let right = [1; 32];
        assert!(tokens.may_try(bad, &right, now));
        tokens.was_right(bad, right);
        for wrong in 2..5 {
            assert!(tokens.may_try(bad, &[wrong; 32], now), "{wrong}");
        }
        assert!(!tokens.may_try(bad, &[9; 32], now));
        assert!(tokens.may_try(bad, &right, now), "it was right before");
        assert!(tokens.may_try(good, &[9; 32], now), "another address");
        assert!(tokens.may_try(bad, &[9; 32], now + Duration::from_secs(20)), "one more after a third of a minute");
        assert!(!tokens.may_try(bad, &[9; 32], now + Duration::from_secs(20)));
    }

    #[test]
    fn memory_of_addresses_is_bounded() {
        let (tokens, now) = (WrongTokens::new(3), Instant::now());
        for number in 0..2 * ADDRESSES_MAX as u32 {
            tokens.may_try(IpAddr::V4(number.into()), &[0; 32], now);
        }
        assert!(tokens.known.lock().tries.len() <= ADDRESSES_MAX);
    }
}
