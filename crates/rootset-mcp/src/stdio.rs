//! A server for one client at the other end of two pipes.

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use rmcp::transport::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::json_lines::JsonLines;
use crate::server::McpServer;

/// The client and this server could not begin.
#[derive(Debug)]
pub struct StdioError(String);

impl std::fmt::Display for StdioError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StdioError {}

/// Serves stdin and stdout until the client closes either, or `stop` is cancelled. stdout carries nothing but the
/// protocol.
pub async fn serve_stdio(server: McpServer, stop: CancellationToken) -> Result<(), StdioError> {
    let (read, write) = stdio_pipes();
    serve(server, read, write, stop).await
}

/// Serves one client. Ends when the calls it began have ended, too: what a client asked for before it left is done
/// whole. Only `stop` does not wait for them; what is not committed by then is not done at all.
pub async fn serve<R, W>(server: McpServer, read: R, write: W, stop: CancellationToken) -> Result<(), StdioError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    // A child: the library cancels what it is given when the connection ends.
    let ending = stop.child_token();
    match serve_server_with_ct(server.clone(), JsonLines::new(read, write), ending).await {
        Ok(running) => {
            if let Err(error) = running.waiting().await {
                tracing::error!(%error, "the connection died");
            }
        }
        Err(error) if is_farewell(&error) => {}
        Err(error) => return Err(StdioError(error.to_string())),
    }
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        () = server.calls().finished() => {}
    }
    Ok(())
}

/// A client that leaves before it has begun is not an error, and neither is a signal at that time.
fn is_farewell(error: &ServerInitializeError) -> bool {
    use ServerInitializeError as Error;
    matches!(error, Error::ConnectionClosed(_) | Error::Cancelled | Error::TransportError { .. })
}
