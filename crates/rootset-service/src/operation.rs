//! How an operation is carried out: each request of the API has one implementation, and each is reached by its name.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use rootset_api::*;
use serde_json::Value;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::service::Service;

/// A request that the service can carry out.
pub trait Operation: Request {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<Self::Response, ServiceError>;
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

fn call<O: Operation>(service: &Arc<Service>, caller: &Caller, request: Value) -> Result<Value, ServiceError> {
    service.admit(caller, O::operation())?;
    let request = O::parse(request).map_err(Error::bounded)?;
    let response = service.carry_out(caller, request)?;
    serde_json::to_value(response)
        .map_err(|_| ServiceError::new(ErrorCode::Internal, "the answer cannot be written as JSON"))
}
