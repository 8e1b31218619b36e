//! `rootset config example`: a file with every key, its meaning and its default.

use std::fmt::Write;

use super::keys::{self, Value};

pub fn example() -> String {
    let mut text = String::from(
        "# Rootset's configuration. Place it at `rootset/rootset.toml` in the XDG config folder (~/.config), or name it\n\
         # with `--config` or `ROOTSET_CONFIG`. A variable such as ROOTSET_GC__GRACE overrides the file, a flag both.\n\
         # Keys that are commented out have no default.\n",
    );
    let mut section = "";
    for key in keys::all() {
        let (of, name) = key.path.rsplit_once('.').unwrap_or(("", key.path));
        if of != section {
            section = of;
            let mark = if key.named_section().is_some() { "# " } else { "" };
            let heading = key.written();
            let heading = heading.rsplit_once('.').map_or("", |(heading, _)| heading);
            write!(text, "\n{mark}[{heading}]").expect("writing to a string cannot fail");
        }
        let line = match key.value {
            Value::Default(value) => format!("{name} = {value}"),
            Value::Unset { example } => format!("# {name} = {example}"),
        };
        write!(text, "\n# {}\n{line}\n", key.about).expect("writing to a string cannot fail");
    }
    text
}
