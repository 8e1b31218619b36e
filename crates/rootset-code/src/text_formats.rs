//! Formats that are read as text: no symbols, chunks at blank lines and headings.

use crate::language::Language;
use crate::paths::is_camel_case_test;

const fn format(
    name: &'static str,
    extensions: &'static [&'static str],
    file_names: &'static [&'static str],
) -> Language {
    Language { name, extensions, file_names, ..Language::PLAIN }
}

/// [`OTHER_CODE`] comes last: what a language claims is that language's.
pub(crate) static FORMATS: &[&Language] = &[
    &MARKDOWN,
    &TEXT,
    &TOML,
    &YAML,
    &JSON,
    &XML,
    &HTML,
    &CSS,
    &SQL,
    &INI,
    &MAKEFILE,
    &DOCKERFILE,
    &CMAKE,
    &PROTOBUF,
    &GRAPHQL,
    &TERRAFORM,
    &OTHER_CODE,
];

static MARKDOWN: Language = Language { aliases: &["md"], ..format("markdown", &["md", "markdown", "mdx", "mkd"], &[]) };

static TEXT: Language = format(
    "text",
    &[
        "txt", "rst", "adoc", "asciidoc", "org", "tex", "text", "log", "csv", "tsv", "diff", "patch", "in", "1", "5",
        "8",
    ],
    &[
        "license",
        "licence",
        "copying",
        "readme",
        "changelog",
        "changes",
        "contributing",
        "authors",
        "contributors",
        "maintainers",
        "codeowners",
        "notice",
        "todo",
        "news",
        "install",
        "history",
        "copyright",
        "version",
        "procfile",
        ".gitignore",
        ".gitattributes",
        ".dockerignore",
        ".rootsetignore",
        ".npmignore",
        ".mailmap",
        "go.mod",
    ],
);

static TOML: Language = format("toml", &["toml"], &["pipfile"]);
static YAML: Language =
    Language { aliases: &["yml"], ..format("yaml", &["yaml", "yml"], &[".clang-format", ".clang-tidy"]) };
static JSON: Language = format(
    "json",
    &["json", "jsonc", "json5", "jsonl", "ndjson", "webmanifest"],
    &[".babelrc", ".eslintrc", ".prettierrc"],
);
static XML: Language = format("xml", &["xml", "xsd", "xsl", "xslt", "csproj", "props", "targets", "pom"], &[]);
static HTML: Language = format(
    "html",
    &["html", "htm", "xhtml", "vue", "svelte", "erb", "jinja", "jinja2", "j2", "hbs", "ejs", "twig", "haml", "cshtml"],
    &[],
);
static CSS: Language = format("css", &["css", "scss", "sass", "less", "styl"], &[]);
static SQL: Language = format("sql", &["sql", "psql", "ddl"], &[]);
static INI: Language = format(
    "ini",
    &["ini", "cfg", "conf", "properties", "editorconfig", "service", "desktop", "pylintrc", "flake8"],
    &[".editorconfig", ".flake8", ".pylintrc", ".coveragerc", ".gitmodules", ".npmrc", "setup.cfg"],
);
static MAKEFILE: Language =
    format("makefile", &["mk", "mak", "make"], &["makefile", "gnumakefile", "justfile", "kbuild"]);
static DOCKERFILE: Language = format("dockerfile", &["dockerfile", "containerfile"], &["dockerfile", "containerfile"]);
static CMAKE: Language = format("cmake", &["cmake"], &["cmakelists.txt"]);
static PROTOBUF: Language = format("protobuf", &["proto", "thrift", "avdl", "capnp"], &[]);
static GRAPHQL: Language = format("graphql", &["graphql", "gql", "graphqls"], &[]);
static TERRAFORM: Language = format("terraform", &["tf", "tfvars", "hcl", "nomad"], &[]);

/// Programming languages without a grammar here: their text is found, their symbols are not.
pub(crate) static OTHER_CODE: Language = Language {
    lock_files: &["flake.lock", "mix.lock"],
    is_test: |stem, extension| matches!(extension, "kt" | "swift" | "scala") && is_camel_case_test(stem),
    ..format(
        "other",
        &[
            "kt", "kts", "swift", "scala", "sbt", "groovy", "gradle", "dart", "lua", "pl", "pm", "r", "jl", "hs", "ml",
            "mli", "ex", "exs", "erl", "hrl", "clj", "cljs", "edn", "el", "lisp", "scm", "fs", "fsx", "fsi", "vb",
            "nim", "zig", "d", "v", "sv", "vhd", "vhdl", "asm", "s", "f", "f90", "f95", "for", "m", "mm", "pas", "ps1",
            "psm1", "bat", "cmd", "fish", "awk", "tcl", "vim", "nix", "bzl", "bazel", "star", "cu", "cuh", "glsl",
            "hlsl", "wgsl", "metal", "sol", "g4", "y", "l", "rego", "cue", "prisma", "elm", "purs", "coffee", "astro",
            "cr", "odin", "mojo", "wat", "ipynb", "inc",
        ],
        &[
            "build",
            "build.bazel",
            "workspace",
            "jenkinsfile",
            "meson.build",
            "meson_options.txt",
            ".vimrc",
            "earthfile",
        ],
    )
};
