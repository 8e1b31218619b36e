//! A connection whose other end has to take what it asked for. Without this, a client that never reads its answer would keep
//! the answer in memory, and its place, for as long as it likes.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

#[derive(Debug)]
pub struct Unstalled<S> {
    stream: S,
    /// How long nothing at all may be taken.
    pause_max: Duration,
    /// How long it may take until everything is taken.
    whole_max: Duration,
    waiting: Option<Waiting>,
}

/// Since when there is something to be taken.
#[derive(Debug)]
struct Waiting {
    since: Instant,
    patience: Pin<Box<Sleep>>,
}

impl<S> Unstalled<S> {
    pub fn new(stream: S, pause_max: Duration, whole_max: Duration) -> Self {
        Self { stream, pause_max, whole_max, waiting: None }
    }

    /// What became of an attempt to write, unless the patience is over.
    fn judged(&mut self, context: &mut Context<'_>, written: Poll<Result<usize>>) -> Poll<Result<usize>> {
        let now = Instant::now();
        match (written, &mut self.waiting) {
            (Poll::Ready(outcome), None) => Poll::Ready(outcome),
            (Poll::Ready(outcome), Some(waiting)) => {
                if now >= waiting.since + self.whole_max {
                    return Poll::Ready(Err(ErrorKind::TimedOut.into()));
                }
                let until = (now + self.pause_max).min(waiting.since + self.whole_max);
                waiting.patience.as_mut().reset(until);
                Poll::Ready(outcome)
            }
            (Poll::Pending, waiting) => {
                let patience = Box::pin(sleep_until(now + self.pause_max.min(self.whole_max)));
                let waiting = waiting.get_or_insert(Waiting { since: now, patience });
                ready!(waiting.patience.as_mut().poll(context));
                Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client does not take its answer")))
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Unstalled<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Unstalled<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judged(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.judged(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Asked for once everything is written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.waiting = None;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const LONG: Duration = Duration::from_secs(3_600);
    const SHORT: Duration = Duration::from_millis(10);

    fn pair(pause_max: Duration, whole_max: Duration) -> (Unstalled<tokio::io::DuplexStream>, tokio::io::DuplexStream) {
        let (ours, theirs) = tokio::io::duplex(16);
        (Unstalled::new(ours, pause_max, whole_max), theirs)
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(test);
    }

    #[test]
    fn who_takes_nothing_is_given_up_after_a_pause() {
        run(async {
            let (mut ours, _theirs) = pair(SHORT, LONG);
            assert_eq!(ours.write_all(&[0; 100]).await.unwrap_err().kind(), ErrorKind::TimedOut);
        });
    }

    #[test]
    fn who_takes_it_in_drops_is_given_up_in_the_end() {
        run(async {
            let (mut ours, mut theirs) = pair(LONG, SHORT);
            let dripping = async { while theirs.read_exact(&mut [0]).await.is_ok() {} };
            let sending = async {
                loop {
                    if let Err(error) = ours.write_all(&[0; 100]).await {
                        return error.kind();
                    }
                }
            };
            let ended = tokio::select! {
                ended = sending => ended,
                () = dripping => panic!("it was cut off"),
            };
            assert_eq!(ended, ErrorKind::TimedOut);
        });
    }

    #[test]
    fn the_time_begins_again_with_each_answer() {
        run(async {
            let (mut ours, mut theirs) = pair(LONG, LONG);
            let sent = async {
                ours.write_all(&[0; 40]).await?;
                assert!(ours.waiting.is_some(), "it did not fit");
                ours.flush().await
            };
            tokio::try_join!(sent, async { theirs.read_exact(&mut [0; 40]).await.map(drop) }).expect("both go on");
            assert!(ours.waiting.is_none());
        });
    }
}
