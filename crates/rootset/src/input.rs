//! Reading what is not in the arguments: stdin and files, within a limit and in UTF-8.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rootset_api::ErrorCode;
use rootset_service::ServiceError;

/// More than any single request may hold; keeps a wrong file from filling the memory.
const INPUT_BYTES_MAX: u64 = 64 << 20;

pub fn read_stdin() -> Result<String, ServiceError> {
    read("standard input", std::io::stdin().lock())
}

/// `-` is stdin.
pub fn read_file(path: &Path) -> Result<String, ServiceError> {
    if path.as_os_str() == "-" {
        return read_stdin();
    }
    let name = format!("`{}`", path.display());
    let file = File::open(path).map_err(|error| ServiceError::invalid(format!("cannot open {name}: {error}")))?;
    read(&name, file)
}

fn read(name: &str, source: impl Read) -> Result<String, ServiceError> {
    let mut bytes = Vec::new();
    source
        .take(INPUT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| ServiceError::new(ErrorCode::InvalidArgument, format!("cannot read {name}: {error}")))?;
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        return Err(ServiceError::invalid(format!("{name} has more than {INPUT_BYTES_MAX} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        ServiceError::invalid(format!("{name} is not UTF-8 text: the byte at {place} is invalid"))
    })
}
