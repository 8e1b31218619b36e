//! `get_callers` and `get_callees`: views of `find_references` that tell calls alone.

use std::sync::Arc;

use rootset_api::{CallResult, CallsAnswer, Direction, FindReferences, GetCallees, GetCallers, ReferenceKind};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for GetCallers {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<CallsAnswer, ServiceError> {
        let Self { workspace_id, qualified_name, repo, offset, limit } = self;
        let request = calls(workspace_id, qualified_name, repo, Direction::In, offset, limit);
        view(request, service, caller)
    }
}

impl Operation for GetCallees {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<CallsAnswer, ServiceError> {
        let Self { workspace_id, qualified_name, repo, offset, limit } = self;
        let request = calls(workspace_id, qualified_name, repo, Direction::Out, offset, limit);
        view(request, service, caller)
    }
}

fn calls(
    workspace_id: Option<String>,
    symbol: String,
    repo: Option<String>,
    direction: Direction,
    offset: Option<i64>,
    limit: Option<i64>,
) -> FindReferences {
    let (kind, direction) = (Some(ReferenceKind::Calls), Some(direction));
    FindReferences { workspace_id, symbol, repo, kind, direction, depth: None, offset, limit }
}

fn view(request: FindReferences, service: &Arc<Service>, caller: &Caller) -> Result<CallsAnswer, ServiceError> {
    let answer = request.run(service, caller)?;
    let results = answer.results.into_iter().map(|it| CallResult {
        qualified_name: it.qualified_name,
        repo: it.repo,
        file_path: it.file_path,
        line: it.line,
        certainty: it.certainty,
        reason: it.reason,
        ambiguous: it.ambiguous,
    });
    Ok(CallsAnswer {
        results: results.collect(),
        known: answer.known,
        nearest: answer.nearest,
        total: answer.total,
        returned: answer.returned,
        unresolved: answer.unresolved,
        elsewhere: answer.elsewhere,
        offset: answer.offset,
        limit: answer.limit,
        changed_files: answer.changed_files,
        indexing: answer.indexing,
    })
}
