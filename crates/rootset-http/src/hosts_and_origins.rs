//! Checks hosts and origins: which names the server answers to, and from which pages it may be called.
//!
//! A page that somebody opens in a browser must not reach a server on the same machine, neither directly (`Origin`) nor
//! through a name of its own that points here (`Host`). Checked on every route, before anything else is looked at.

use http::header::{HOST, HeaderMap, ORIGIN};
use http::{Uri, uri::Authority};

use crate::answer::Refusal;

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

#[derive(Debug)]
pub struct KnownHosts {
    /// Lower case, without port.
    hosts: Vec<String>,
}

impl KnownHosts {
    pub fn new(hosts: &[String]) -> Self {
        let own = hosts.iter().map(|host| host.to_lowercase());
        Self { hosts: LOOPBACK.iter().map(|host| (*host).to_owned()).chain(own).collect() }
    }

    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut hosts = headers.get_all(HOST).iter();
        match (hosts.next(), hosts.next()) {
            (Some(host), None) => self.check_host(host.to_str().unwrap_or("?"))?,
            (None, _) => return Err(Refusal::foreign("Host", "")),
            (Some(_), Some(_)) => return Err(Refusal::foreign("Host", "more than one")),
        }
        // A request line may carry a whole address; it then counts as much as the header.
        if let Some(authority) = uri.authority() {
            self.check_host(authority.as_str())?;
        }
        for origin in headers.get_all(ORIGIN) {
            self.check_origin(origin.to_str().unwrap_or("?"))?;
        }
        Ok(())
    }

    fn check_host(&self, host: &str) -> Result<(), Refusal> {
        if self.is_known(host) { Ok(()) } else { Err(Refusal::foreign("Host", host)) }
    }

    fn check_origin(&self, origin: &str) -> Result<(), Refusal> {
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        if host.is_some_and(|host| self.is_known(host)) { Ok(()) } else { Err(Refusal::foreign("Origin", origin)) }
    }

    /// The port is nobody's secret and changes with every test; the name is what a browser vouches for.
    fn is_known(&self, host_and_port: &str) -> bool {
        let Ok(authority) = host_and_port.parse::<Authority>() else { return false };
        if host_and_port.contains('@') {
            return false;
        }
        let host = authority.host().to_lowercase();
        self.hosts.contains(&host)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(uri: &str, headers: &[(&'static str, &str)]) -> bool {
        let known_hosts = KnownHosts::new(&["Memory.Example.org".to_owned()]);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_str(value).expect("a header"));
        }
        known_hosts.check(&uri.parse().expect("an address"), &map).is_ok()
    }

    #[test]
    fn loopback_and_listed_names_are_known_with_any_port() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:7654", "[::1]:7654", "memory.example.org:443"] {
            assert!(check("/", &[("host", host)]), "{host}");
        }
    }

    #[test]
    fn other_names_are_foreign_however_they_are_written() {
        let foreign =
            ["", "evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "localhost@evil.example", "a b", "::1"];
        for host in foreign {
            assert!(!check("/", &[("host", host)]), "{host}");
            assert!(!check("/", &[("host", "localhost"), ("origin", host)]), "{host}");
        }
        assert!(!check("/", &[]), "no host at all");
        assert!(!check("/", &[("host", "localhost"), ("host", "evil.example")]), "two hosts");
        assert!(!check("http://evil.example/", &[("host", "localhost")]), "another name in the request line");
    }

    #[test]
    fn origins_are_pages_of_known_names() {
        let with = |origin: &str| check("/", &[("host", "localhost"), ("origin", origin)]);
        assert!(with("http://localhost:3000") && with("https://memory.example.org"));
        assert!(!with("null") && !with("https://evil.example") && !with("localhost") && !with("file://localhost"));
    }
}
