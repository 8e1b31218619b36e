//! The two channels: stdout for data, stderr for talk. Nothing else in the program writes to either.

use std::io::{IsTerminal, Write};

use rootset_service::ServiceError;
use serde::Serialize;

use crate::arguments::GlobalArguments;
use crate::exit::Failure;
use crate::render;

#[derive(Clone, Debug)]
pub struct Output {
    in_json: bool,
    is_quiet: bool,
}

impl Output {
    pub fn new(global: &GlobalArguments, answers_in_json: bool) -> Self {
        Self { in_json: global.json || answers_in_json, is_quiet: global.quiet }
    }

    pub fn for_json() -> Self {
        Self { in_json: true, is_quiet: false }
    }

    pub fn for_people() -> Self {
        Self { in_json: false, is_quiet: false }
    }

    pub fn in_json(&self) -> bool {
        self.in_json
    }

    /// Whether somebody watches stderr and wants talk.
    pub fn shows_progress(&self) -> bool {
        !self.is_quiet && std::io::stderr().is_terminal()
    }

    /// An operation's answer: its JSON for programs, `render`ed for people, who hear its warnings beside it.
    pub fn answer<A: Serialize>(&self, answer: &A, render: impl FnOnce(&A) -> String) -> Result<(), Failure> {
        if self.in_json {
            return self.json(answer);
        }
        self.text(&render(answer))?;
        let value = serde_json::to_value(answer).map_err(std::io::Error::from)?;
        for warnings in [&value["warnings"], &value["applied"]["warnings"]] {
            for warning in warnings.as_array().into_iter().flatten().filter_map(|it| it.as_str()) {
                self.talk(&render::warning(render::for_people(warning)));
            }
        }
        Ok(())
    }

    /// One line for programs, indented for a person who looks.
    pub fn json(&self, answer: &impl Serialize) -> Result<(), Failure> {
        let value = serde_json::to_value(answer).map_err(std::io::Error::from)?;
        let text = if std::io::stdout().is_terminal() { format!("{value:#}\n") } else { format!("{value}\n") };
        // Past the filter of colours: what programs read back is the answer, to the byte.
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(render::escaped_in_json(&text).as_bytes())?;
        stdout.flush()?;
        self.tell_escaped();
        Ok(())
    }

    pub fn text(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = anstream::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()?;
        self.tell_escaped();
        Ok(())
    }

    /// Who reads a text that hides something should know that it does.
    fn tell_escaped(&self) {
        match render::take_escaped() {
            0 => {}
            count => {
                let characters = render::counted(count, "invisible character is", "invisible characters are");
                self.talk(&render::warning(format!("{characters} shown as escapes such as \\u{{200b}}")));
            }
        }
    }

    /// A remark beside the answer. Lost when stderr is closed, like any talk nobody listens to.
    pub fn talk(&self, text: &str) {
        if !self.is_quiet {
            let _ = writeln!(anstream::stderr(), "{text}");
        }
    }

    pub fn error(&self, error: &ServiceError) {
        // Where JSON cannot be written either (a full disk), a word on stderr is better than none.
        if self.in_json && !matches!(self.json(&error.to_json()), Err(Failure::Error(_))) {
            return;
        }
        let mut stderr = anstream::stderr().lock();
        // Messages repeat what was given, which may hold anything.
        let _ = writeln!(stderr, "{} {}", render::bold("error:"), render::escaped(&render::for_people(&error.message)));
        if let Some(hint) = &error.hint {
            let _ = writeln!(stderr, "{} {}", render::bold("hint:"), render::escaped(&render::for_people(hint)));
        }
    }
}
