//! The real server behind the door, by its socket or its port.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

#[derive(Clone)]
pub enum Address {
    Socket(PathBuf),
    Port(String),
}

impl Address {
    pub fn of(url: &str) -> Self {
        let (place, parameters) = url.split_once('?').unwrap_or((url, ""));
        let parameter = |name: &str| {
            let found = parameters.split('&').filter_map(|it| it.split_once('=')).find(|(key, _)| *key == name);
            found.map(|(_, value)| value.replace("%2F", "/"))
        };
        let port = parameter("port").unwrap_or_else(|| "5432".to_owned());
        match parameter("host") {
            Some(host) if host.starts_with('/') => Self::Socket(PathBuf::from(host).join(format!(".s.PGSQL.{port}"))),
            Some(host) => Self::Port(format!("{host}:{port}")),
            None => {
                let place = place.split_once("://").expect("a URL").1;
                let place = place.split_once('@').map_or(place, |(_, place)| place);
                let host = place.split_once('/').map_or(place, |(host, _)| host);
                Self::Port(if host.contains(':') { host.to_owned() } else { format!("{host}:{port}") })
            }
        }
    }

    pub fn connect(&self) -> std::io::Result<Server> {
        match self {
            Self::Socket(path) => UnixStream::connect(path).map(Server::Socket),
            Self::Port(address) => TcpStream::connect(address).map(Server::Port),
        }
    }
}

pub enum Server {
    Socket(UnixStream),
    Port(TcpStream),
}

impl Server {
    pub fn another(&self) -> Self {
        match self {
            Self::Socket(stream) => Self::Socket(stream.try_clone().expect("another handle")),
            Self::Port(stream) => Self::Port(stream.try_clone().expect("another handle")),
        }
    }

    pub fn close(&self) {
        // Who is gone already is closed.
        match self {
            Self::Socket(stream) => stream.shutdown(Shutdown::Both).ok(),
            Self::Port(stream) => stream.shutdown(Shutdown::Both).ok(),
        };
    }
}

impl Read for Server {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Socket(stream) => stream.read(buffer),
            Self::Port(stream) => stream.read(buffer),
        }
    }
}

impl Write for Server {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Socket(stream) => stream.write(bytes),
            Self::Port(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
