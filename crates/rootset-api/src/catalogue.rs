//! Every operation, listed once. Each room describes its operations in rows; here the rows are joined.
//!
//! Front ends generate themselves from [`catalogue`]; the service implements the list by [`for_each_operation`](crate::for_each_operation),
//! so that an operation without an implementation does not compile.

use rootset_model::retention::fields::Written;
use serde_json::{Value, json};

use crate::brief::*;
use crate::effect::Effect;
use crate::irreversible::{Harm, Irreversible};
use crate::operation::{LazySchemas, OperationInfo, Request};
use crate::profile::Profile;
use crate::*;

/// Calls `callback!` with the rows of all rooms, in the order of the catalogue: `Request => Response { … }`, one after the other.
#[macro_export]
macro_rules! for_each_operation {
    ($callback:ident) => {
        $crate::join_operations! { $callback [
            memory_operations search_operations graph_operations collector_operations upkeep_operations backup_operations
            code_operations context_session_operations context_collector_operations context_stash_operations
            secret_operations admin_operations
        ] }
    };
}

/// Goes from room to room and hands the rows so far to the next one.
#[doc(hidden)]
#[macro_export]
macro_rules! join_operations {
    ($callback:ident [] $($rows:tt)*) => { $callback! { $($rows)* } };
    ($callback:ident [$room:ident $($rooms:ident)*] $($rows:tt)*) => {
        $crate::$room! { $callback [$($rooms)*] $($rows)* }
    };
}

macro_rules! describe {
    ($($request:ident => $response:ty {
        name: $name:literal,
        effect: $effect:ident,
        is: [$($flag:ident),*],
        $(needs_person: $needs_person:tt,)?
        $(destroys: $destroys:tt,)?
        $(brief: $brief:ty,)?
        profiles: [$($profile:ident),*],
        example: $example:tt,
    })*) => {
        /// The number of each operation in the catalogue.
        #[derive(Clone, Copy)]
        enum Number { $($request),* }

        static CATALOGUE: &[OperationInfo] = &[$({
            static SCHEMAS: LazySchemas = LazySchemas::of::<$request>();
            fn example() -> Value {
                json!($example)
            }
            OperationInfo::of::<$request>(&SCHEMAS, &[$(Profile::$profile),*], example)
        }),*];

        $(impl Request for $request {
            const NAME: &'static str = $name;
            const EFFECT: Effect = Effect::$effect;
            type Response = $response;
            brief! { $response $(, $brief)? }
            $(flag! { $flag })*
            $(needs_person! { $needs_person })?
            $(destroys! { $destroys })?

            fn operation() -> &'static OperationInfo {
                &CATALOGUE[Number::$request as usize]
            }
        })*
    };
}

macro_rules! brief {
    ($response:ty) => {
        type Brief = $response;
    };
    ($response:ty, $brief:ty) => {
        type Brief = $brief;
        const HAS_BRIEF: bool = true;
    };
}

macro_rules! flag {
    (idempotent) => {
        const IS_IDEMPOTENT: bool = true;
    };
    (open_world) => {
        const IS_OPEN_WORLD: bool = true;
    };
    (database_wide) => {
        const IS_DATABASE_WIDE: bool = true;
    };
    (bulky) => {
        const IS_BULKY: bool = true;
    };
    // The request may name a workspace; without it, the caller's current one is meant.
    (in_workspace) => {
        fn workspace_id(&self) -> Option<&str> {
            self.workspace_id.as_deref()
        }
    };
    // The request is about the workspace that it names.
    (of_workspace) => {
        fn workspace_id(&self) -> Option<&str> {
            Some(&self.workspace_id)
        }
    };
}

/// When a request needs a person: always, or with one of its arguments, under a condition on the request.
macro_rules! needs_person {
    ([always $harm:ident]) => {
        const IRREVERSIBLE: &'static [Irreversible] = &[Irreversible { argument: None, harm: Harm::$harm }];

        fn irreversible(&self) -> Option<Irreversible> {
            Some(Self::IRREVERSIBLE[0])
        }
    };
    ([|$it:ident| $argument:ident $harm:ident if $when:expr]) => {
        const IRREVERSIBLE: &'static [Irreversible] =
            &[Irreversible { argument: Some(stringify!($argument)), harm: Harm::$harm }];

        fn irreversible(&self) -> Option<Irreversible> {
            let $it = self;
            $when.then_some(Self::IRREVERSIBLE[0])
        }
    };
}

/// With which argument an operation removes something, although others of its requests do not.
macro_rules! destroys {
    ([|$it:ident| $argument:ident if $when:expr]) => {
        const DESTROYS_WITH: Option<&'static str> = Some(stringify!($argument));

        fn destroys(&self) -> bool {
            let $it = self;
            $when
        }
    };
}

for_each_operation!(describe);

/// All operations, in a fixed order.
pub fn catalogue() -> &'static [OperationInfo] {
    CATALOGUE
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! examples_are_requests {
        ($($request:ident => $response:ty { $($row:tt)* })*) => {
            #[test]
            fn every_example_is_a_request_that_stays_the_same_when_written() {
                $(
                    let example = ($request::operation().example)();
                    let request = $request::parse(example.clone()).expect(stringify!($request));
                    assert_eq!(serde_json::to_value(request).expect("requests are JSON"), example);
                )*
            }
        };
    }

    for_each_operation!(examples_are_requests);
}
