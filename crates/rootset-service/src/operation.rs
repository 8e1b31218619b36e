//! How an operation is carried out: each request of the API has one implementation, and each is reached by its name.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use rootset_api::*;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::secrets;
use crate::service::Service;

/// A request that the service can carry out.
pub trait Operation: Request {
    /// Why it is not carried out until somebody has confirmed it: an error with the call to make then, or what is wrong
    /// with the request, which nobody should be asked about. Of a request that a person must confirm, asked over MCP
    /// before anything is done.
    fn unconfirmed(&self, service: &Service, caller: &Caller) -> ServiceError {
        if !Self::IS_DATABASE_WIDE
            && let Err(error) = service.workspace(caller, self.workspace_id())
        {
            return error;
        }
        let what = self.irreversible().map_or("must be confirmed", |it| it.in_words());
        confirmation_of(self, format!("`{}` {what}", Self::NAME), json!({}))
    }

    /// The request with what it names by a path in its place, so that everything that is stored passes the same border.
    fn with_files(self, _: &Caller) -> Result<Self, ServiceError> {
        Ok(self)
    }

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<Self::Response, ServiceError>;
}

/// The refusal of a request that is to be made again once it is confirmed: with the same arguments, and those in `added`.
pub(crate) fn confirmation_of<O: Request>(request: &O, message: impl Into<String>, added: Value) -> ServiceError {
    let mut arguments = serde_json::to_value(request).unwrap_or_else(|_| json!({}));
    if let (Value::Object(arguments), Value::Object(added)) = (&mut arguments, added) {
        arguments.extend(added);
    }
    ServiceError::new(ErrorCode::ConfirmationRequired, message)
        .with_details(json!({"next": {"operation": O::NAME, "arguments": arguments}}))
}

/// From JSON to JSON, for front ends that speak it.
pub(crate) type Call = fn(&Arc<Service>, &Caller, Value) -> Result<Value, ServiceError>;

macro_rules! calls_by_name {
    ($($request:ident => $response:ty { $($row:tt)* })*) => {
        static CALLS: &[(&str, Call)] = &[$(($request::NAME, call::<$request>)),*];
    };
}

rootset_api::for_each_operation!(calls_by_name);

pub(crate) fn find_call(name: &str) -> Option<Call> {
    static BY_NAME: LazyLock<HashMap<&str, Call>> = LazyLock::new(|| CALLS.iter().copied().collect());
    BY_NAME.get(name).copied()
}

fn call<O: Operation>(service: &Arc<Service>, caller: &Caller, mut request: Value) -> Result<Value, ServiceError> {
    service.admit(caller, O::operation())?;
    let detail = if O::HAS_BRIEF { Detail::take_from(&mut request).map_err(Error::bounded)? } else { None };
    let request = O::parse(request).map_err(Error::bounded)?;
    let detail = detail.unwrap_or(caller.detail);
    let asking = (detail != caller.detail).then(|| Caller { detail, ..caller.clone() });
    let (response, notes) = service.carry_out(asking.as_ref().unwrap_or(caller), request)?;
    let answer = match detail {
        Detail::Full => serde_json::to_value(response),
        Detail::Brief => serde_json::to_value(O::Brief::from(response)),
    };
    let mut answer =
        answer.map_err(|_| ServiceError::new(ErrorCode::Internal, "the answer cannot be written as JSON"))?;
    secrets::add_to(&mut answer, &notes);
    Ok(answer)
}
