//! What a client writes into the pipe of an MCP server.

use std::time::Duration;

use rootset_mcp::{McpOptions, McpServer};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use crate::world::{World, with_world};

const PIPE_BYTES: usize = 64 << 10;
/// Nothing that fits in an input takes a hundredth of it: whoever waits so long waits for ever.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn run(input: &[u8]) {
    with_world(|world| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let answers = runtime.block_on(async {
            let talking = tokio::time::timeout(PATIENCE, talk(world, input));
            talking.await.expect("the server ends when its client has left")
        });
        check(&answers);
    });
}

/// Writes everything, hangs up, and hears what the server has to say.
async fn talk(world: &World, input: &[u8]) -> Vec<u8> {
    let server = McpServer::new(world.service.clone(), McpOptions::default());
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    let (read, write) = tokio::io::split(theirs);
    let serving = tokio::spawn(rootset_mcp::serve(server, read, write, CancellationToken::new()));
    let (mut hear, mut say) = tokio::io::split(ours);
    let saying = async {
        // A server that cannot begin with this client hangs up first.
        let _ = say.write_all(input).await;
        let _ = say.shutdown().await;
    };
    let mut answers = Vec::new();
    let (_, heard) = tokio::join!(saying, hear.read_to_end(&mut answers));
    heard.expect("a pipe in memory can be read");
    // It may say that the two could not begin; a panic is another matter.
    let _ = serving.await.expect("serving does not panic");
    answers
}

fn check(answers: &[u8]) {
    const INTERNAL: i64 = -32603;
    for line in answers.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let message: Value = serde_json::from_slice(line).expect("every line of a server is JSON");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        assert_ne!(message["error"]["code"], INTERNAL, "{message}");
        assert_ne!(message["result"]["structuredContent"]["error"]["code"], "internal", "{message}");
    }
}
