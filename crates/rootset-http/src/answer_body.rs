//! The body of an answer that keeps what its request took until the last byte is handed over: an answer that nobody reads
//! still counts. A stream of events also ends when its token does.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

/// Resolves when whoever asked is not welcome any more.
pub type Farewell = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Held<T> {
    body: Body,
    farewell: Option<Farewell>,
    _taken: T,
}

pub fn holding<T: Send + Unpin + 'static>(response: Response, taken: T, farewell: Option<Farewell>) -> Response {
    response.map(|body| Body::new(Held { body, farewell, _taken: taken }))
}

impl<T: Unpin> HttpBody for Held<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Some(farewell) = &mut self.farewell
            && farewell.as_mut().poll(context).is_ready()
        {
            self.farewell = None;
            self.body = Body::empty();
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
