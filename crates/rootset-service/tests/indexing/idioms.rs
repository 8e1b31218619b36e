//! Small projects, one per way in which a language lets a caller name what it calls.

use std::collections::BTreeSet;

use serde_json::json;

use crate::harness::text_of;
use crate::place::Place;

/// A project, and what it must answer.
struct Idiom {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// A symbol and who certainly calls it: nobody else may be called certain.
    certain: &'static [(&'static str, &'static [&'static str])],
}

pub fn names(place: &Place, target: &str, certainty: &str) -> BTreeSet<String> {
    let answer = place.world.call("get_callers", json!({ "qualified_name": target }));
    assert_eq!(answer["known"], true, "{target}: {answer}");
    let results = answer["results"].as_array().unwrap();
    results.iter().filter(|it| it["certainty"] == certainty).map(|it| text_of(&it["qualified_name"])).collect()
}

#[track_caller]
fn assert_callers(idioms: &[Idiom]) {
    let mut failures = Vec::new();
    for Idiom { name, files, certain } in idioms {
        let place = Place::with(files.iter().copied());
        place.index();
        for (target, expected) in *certain {
            let found = names(&place, target, "certain");
            let expected: BTreeSet<String> = expected.iter().map(|it| (*it).to_owned()).collect();
            if found != expected {
                failures.push(format!("{name}: callers of {target}: {found:?}, not {expected:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn python_calls_are_followed() {
    assert_callers(&[
        Idiom {
            name: "re-exports through __init__",
            files: &[
                ("web/urls/__init__.py", "from .base import reverse\nfrom .more import *\n"),
                ("web/urls/base.py", "def reverse(name):\n    return name\n"),
                ("web/urls/more.py", "def resolve(path):\n    return path\n"),
                ("web/__init__.py", ""),
                (
                    "app/views.py",
                    "from web.urls import reverse, resolve\n\n\ndef show():\n    resolve('x')\n    return reverse('home')\n",
                ),
            ],
            certain: &[("web.urls.base.reverse", &["app.views.show"]), ("web.urls.more.resolve", &["app.views.show"])],
        },
        Idiom {
            name: "import aliases",
            files: &[
                ("store.py", "def save(item):\n    return item\n"),
                ("a.py", "from store import save as keep\n\n\ndef one():\n    keep(1)\n"),
                ("b.py", "import store as st\n\n\ndef two():\n    st.save(1)\n"),
            ],
            certain: &[("store.save", &["a.one", "b.two"])],
        },
        Idiom {
            name: "inherited targets and super",
            files: &[
                (
                    "forms.py",
                    "class BaseForm:\n    def is_valid(self):\n        return True\n\n    def save(self):\n        return 1\n\n\nclass Form(BaseForm):\n    def save(self):\n        return super().save()\n",
                ),
                (
                    "contact.py",
                    "from forms import Form\n\n\nclass ContactForm(Form):\n    pass\n\n\ndef handle():\n    form = ContactForm()\n    if form.is_valid():\n        form.save()\n",
                ),
            ],
            certain: &[
                ("BaseForm.is_valid", &["contact.handle"]),
                ("BaseForm.save", &["forms.Form.save"]),
                ("Form.save", &["contact.handle"]),
            ],
        },
        Idiom {
            name: "types of fields, parameters and results",
            files: &[
                (
                    "store.py",
                    "class Store:\n    def put(self, x):\n        return x\n\n\nclass Other:\n    def put(self, x):\n        return x\n\n\ndef open_store() -> Store:\n    return Store()\n",
                ),
                (
                    "shop.py",
                    "from typing import Optional\n\nfrom store import Store, open_store\n\n\nclass Shop:\n    def __init__(self, store: Optional[Store] = None):\n        self.store = store or Store()\n        self.spare: Store = Store()\n\n    def sell(self):\n        self.spare.put(1)\n\n\ndef annotated(store: 'Store'):\n    store.put(2)\n\n\ndef returned():\n    open_store().put(3)\n\n\ndef held():\n    shop = Shop()\n    shop.spare.put(4)\n",
                ),
            ],
            certain: &[
                ("Store.put", &["shop.Shop.sell", "shop.annotated", "shop.returned", "shop.held"]),
                ("Other.put", &[]),
            ],
        },
        Idiom {
            name: "a variable hides what is imported",
            files: &[
                ("store.py", "def save(item):\n    return item\n"),
                (
                    "a.py",
                    "from store import save\n\n\ndef one(save):\n    save(1)\n\n\ndef two(store):\n    store.save(1)\n",
                ),
            ],
            certain: &[("store.save", &[])],
        },
        Idiom {
            name: "a package below a folder of sources",
            files: &[
                ("backend/src/shop/__init__.py", ""),
                ("backend/src/shop/cart.py", "def total(cart):\n    return cart\n"),
                ("backend/tests/test_cart.py", "from shop.cart import total\n\n\ndef test_total():\n    total(1)\n"),
                ("lib.py", "from json import loads\n\n\ndef other():\n    loads('1')\n"),
                ("shop/json.py", "def loads(text):\n    return text\n"),
                ("shop/__init__.py", ""),
            ],
            certain: &[("shop.cart.total", &["backend.tests.test_cart.test_total"]), ("json.loads", &[])],
        },
    ]);
}

#[test]
fn javascript_and_typescript_calls_are_followed() {
    assert_callers(&[
        Idiom {
            name: "barrels",
            files: &[
                ("src/api/index.ts", "export { fetchUser } from './users';\nexport * from './orders';\n"),
                ("src/api/users.ts", "export function fetchUser(id: string) { return id; }\n"),
                ("src/api/orders.ts", "export const fetchOrder = (id: string) => id;\n"),
                (
                    "src/app.ts",
                    "import { fetchUser, fetchOrder as order } from './api';\nexport function main() { fetchUser('1'); order('2'); }\n",
                ),
            ],
            certain: &[("api.users.fetchUser", &["app.main"]), ("api.orders.fetchOrder", &["app.main"])],
        },
        Idiom {
            name: "path aliases",
            files: &[
                (
                    "tsconfig.json",
                    "{\n  // paths\n  \"compilerOptions\": { \"baseUrl\": \".\", \"paths\": { \"@/*\": [\"src/*\"] }, },\n}\n",
                ),
                ("src/lib/money.ts", "export function round(x: number) { return x; }\n"),
                (
                    "src/pages/cart.tsx",
                    "import { round } from '@/lib/money';\nexport function Cart() { return round(1); }\n",
                ),
            ],
            certain: &[("money.round", &["pages.cart.Cart"])],
        },
        Idiom {
            name: "workspace packages",
            files: &[
                ("package.json", "{\"name\": \"root\", \"workspaces\": [\"packages/*\"]}"),
                ("packages/ui/package.json", "{\"name\": \"@acme/ui\", \"exports\": {\".\": \"./dist/index.js\"}}"),
                ("packages/ui/src/index.ts", "export { Button } from './button';\n"),
                ("packages/ui/src/button.ts", "export function Button() { return 1; }\n"),
                (
                    "packages/web/src/app.ts",
                    "import { Button } from '@acme/ui';\nexport function render() { return Button(); }\n",
                ),
            ],
            certain: &[("button.Button", &["packages.web.src.app.render"])],
        },
        Idiom {
            name: "namespaces and objects",
            files: &[
                (
                    "src/util.ts",
                    "export namespace util {\n  export namespace deep { export function inner() {} }\n  export const check = (x: never) => x;\n  export function own() { return check(1 as never); }\n}\nexport const api = { fetchAll() { return 1; } };\n",
                ),
                (
                    "src/app.ts",
                    "import { util, api } from './util.js';\nimport * as all from './util.js';\nexport function main() { util.check(1); all.util.check(2); util.deep.inner(); api.fetchAll(); }\nconst own = { fetchAll() {} };\nfunction other() { own.fetchAll(); }\nfunction third(api) { api.fetchAll(); }\n",
                ),
            ],
            certain: &[
                ("util.util.check", &["app.main", "util.util.own"]),
                ("deep.inner", &["app.main"]),
                ("util.api.fetchAll", &["app.main"]),
                ("app.own.fetchAll", &["app.other"]),
            ],
        },
        Idiom {
            name: "tsconfig files that extend others",
            files: &[
                ("config/tsconfig.base.json", "{\"compilerOptions\": {\"paths\": {\"~/*\": [\"../libs/*\"]}}}"),
                ("config/tsconfig.lib.json", "{\"extends\": \"./tsconfig.base\"}"),
                ("apps/web/tsconfig.json", "{\"extends\": \"../../config/tsconfig.lib.json\"}"),
                ("libs/money.ts", "export function round(x: number) { return x; }\n"),
                ("apps/web/main.ts", "import { round } from '~/money';\nexport function show() { return round(1); }\n"),
                (
                    "apps/other/main.ts",
                    "import { round } from '~/money';\nexport function show() { return round(1); }\n",
                ),
            ],
            certain: &[("libs.money.round", &["apps.web.main.show"])],
        },
        Idiom {
            name: "a package and a file of the same name",
            files: &[
                ("events.js", "function on() { return 1; }\nmodule.exports = { on };\n"),
                ("a.js", "const { on } = require('events');\nfunction foreign() { on(); }\n"),
                ("b.js", "const { on } = require('./events');\nfunction own() { on(); }\n"),
                ("c.mjs", "import events from 'events';\nexport function strange() { events.on(); }\n"),
            ],
            certain: &[("events.on", &["b.own"])],
        },
        Idiom {
            name: "one function under several exported names",
            files: &[
                ("lib/nyan.js", "class NyanCat { draw() { return 1; } }\nexports.NyanCat = NyanCat;\n"),
                (
                    "lib/index.js",
                    "const { NyanCat } = require('./nyan');\nexports.Nyan = exports.nyan = NyanCat;\nexports.a = exports.b = function () { return 2; };\n",
                ),
                (
                    "use.js",
                    "const all = require('./lib');\nfunction show() { return new all.Nyan(); }\nfunction again() { return new all.nyan(); }\nfunction both() { all.a(); }\n",
                ),
            ],
            certain: &[("lib.nyan.NyanCat", &["use.show", "use.again"]), ("lib.b", &["use.both"])],
        },
        Idiom {
            name: "the module itself as exports, and a whole module as its default",
            files: &[
                (
                    "utils.cjs",
                    "exports.clamp = function clamp(value) { return value; };\nexports.twice = function twice(x) { return exports.clamp(x); };\n",
                ),
                (
                    "suite.mjs",
                    "import utils from './utils.cjs';\nconst { clamp } = utils;\nexport function timeout(ms) { return clamp(ms); }\nexport function slow(ms) { return utils.clamp(ms); }\n",
                ),
            ],
            certain: &[("utils.clamp", &["utils.twice", "suite.timeout", "suite.slow"])],
        },
        Idiom {
            name: "module.exports and default exports",
            files: &[
                ("lib/parse.js", "module.exports = function (text) { return text; };\n"),
                ("lib/named.js", "function build() { return 1; }\nmodule.exports = build;\n"),
                ("lib/both.js", "function inner() { return 1; }\nmodule.exports = { outer: inner };\n"),
                ("lib/es.js", "export default function start() { return 1; }\n"),
                (
                    "main.js",
                    "const parse = require('./lib/parse');\nconst make = require('./lib/named');\nconst { outer } = require('./lib/both');\nfunction run() { parse('x'); make(); outer(); }\n",
                ),
                ("more.js", "import go from './lib/es';\nexport function walk() { go(); }\n"),
            ],
            certain: &[
                ("lib.parse.default", &["main.run"]),
                ("lib.named.build", &["main.run"]),
                ("lib.both.inner", &["main.run"]),
                ("lib.es.start", &["more.walk"]),
            ],
        },
        Idiom {
            name: "types of fields and parameters, inherited members, super",
            files: &[
                (
                    "store.ts",
                    "export class Base {\n  open() { return 1; }\n}\nexport class Store extends Base {\n  save(x: number) { return x; }\n  open() { return super.open(); }\n}\nexport class Other { save() {} }\n",
                ),
                (
                    "app.ts",
                    "import { Store } from './store';\nexport class App {\n  private spare = new Store();\n  constructor(private readonly store: Store) {}\n  run() { this.store.save(1); this.spare.save(2); }\n}\nexport function free(store: Store) { const other = store; other.save(3); }\nexport async function made() { const s = new Store(); s.save(1); }\n",
                ),
            ],
            certain: &[
                ("Store.save", &["app.App.run", "app.free", "app.made"]),
                ("Base.open", &["store.Store.open"]),
                ("Other.save", &[]),
            ],
        },
    ]);
}

#[test]
fn go_calls_are_followed() {
    assert_callers(&[
        Idiom {
            name: "a module path with a domain",
            files: &[
                ("go.mod", "module github.com/acme/shop\n\ngo 1.22\n"),
                (
                    "internal/store/store.go",
                    "package store\n\ntype Store struct{ cache *Cache }\n\ntype Cache struct{}\n\nfunc (c *Cache) Drop() {}\n\nfunc Open(path string) (*Store, error) { return &Store{}, nil }\n\nfunc (s *Store) Save(x int) { s.cache.Drop() }\n",
                ),
                (
                    "cmd/app/main.go",
                    "package main\n\nimport (\n\tst \"github.com/acme/shop/internal/store\"\n\t\"os\"\n)\n\nfunc main() {\n\ts, err := st.Open(os.Args[1])\n\t_ = err\n\ts.Save(1)\n}\n",
                ),
                ("other/store.go", "package store\n\nfunc Open() {}\n\nfunc use() { Open() }\n"),
            ],
            certain: &[("store.Store.Save", &["main.main"]), ("store.Cache.Drop", &["store.Store.Save"])],
        },
        Idiom {
            name: "embedded structs",
            files: &[
                ("go.mod", "module example.com/app\n"),
                (
                    "base.go",
                    "package app\n\ntype Base struct{}\n\nfunc (b Base) Log() {}\n\ntype Server struct {\n\tBase\n}\n\nfunc (s *Server) Run() { s.Log() }\n",
                ),
            ],
            certain: &[("app.Base.Log", &["app.Server.Run"])],
        },
        Idiom {
            name: "embedded structs of other packages",
            files: &[
                ("go.mod", "module example.com/app\n"),
                (
                    "text/reader.go",
                    "package reader\n\ntype Reader struct{}\n\nfunc (r *Reader) Next() bool { return true }\n",
                ),
                (
                    "web/helper.go",
                    "package web\n\nimport reader \"example.com/app/text\"\n\ntype Helper struct {\n\t*reader.Reader\n\tstate int\n}\n\nfunc parse(h Helper) bool { return h.Next() }\n",
                ),
            ],
            certain: &[("reader.Reader.Next", &["web.parse"])],
        },
    ]);
}

#[test]
fn rust_calls_are_followed() {
    assert_callers(&[
        Idiom {
            name: "pub use, written-out paths, crate names",
            files: &[
                ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
                ("crates/core/Cargo.toml", "[package]\nname = \"shop-core\"\n"),
                ("crates/core/src/lib.rs", "mod cart;\npub use cart::total;\npub mod deep;\n"),
                (
                    "crates/core/src/cart.rs",
                    "pub fn total() -> u32 { 1 }\n\npub fn twice() -> u32 { crate::cart::total() }\n",
                ),
                ("crates/core/src/deep.rs", "pub fn three() -> u32 { super::cart::total() }\n"),
                ("crates/app/Cargo.toml", "[package]\nname = \"app\"\n"),
                (
                    "crates/app/src/main.rs",
                    "use shop_core::total as sum;\n\nfn main() {\n    sum();\n    shop_core::total();\n}\n",
                ),
            ],
            certain: &[("cart::total", &["app::main", "core::cart::twice", "core::deep::three"])],
        },
        Idiom {
            name: "new of one type is not new of another",
            files: &[
                ("Cargo.toml", "[package]\nname = \"app\"\n"),
                (
                    "src/lib.rs",
                    "pub mod workspace;\npub mod other;\n\nuse workspace::Workspace;\n\npub fn one() {\n    let it = Workspace::new();\n    it.open();\n}\n",
                ),
                (
                    "src/workspace.rs",
                    "pub struct Workspace { other: Other }\n\nuse crate::other::Other;\n\nimpl Workspace {\n    pub fn new() -> Self { Self { other: Other::new() } }\n    pub fn open(&self) { self.other.shut() }\n}\n",
                ),
                (
                    "src/other.rs",
                    "pub struct Other;\n\nimpl Other {\n    pub fn new() -> Self { Other }\n    pub fn shut(&self) {}\n}\n\npub fn two() { let v: Vec<u8> = Vec::new(); Other::new().shut(); }\n",
                ),
            ],
            certain: &[
                ("Workspace::new", &["shop::one"]),
                ("Workspace::open", &["shop::one"]),
                ("Other::new", &["shop::workspace::Workspace::new", "shop::other::two"]),
                ("Other::shut", &["shop::workspace::Workspace::open", "shop::other::two"]),
            ],
        },
        Idiom {
            name: "trait methods",
            files: &[(
                "src/lib.rs",
                "pub trait Shape {\n    fn area(&self) -> u32;\n    fn twice(&self) -> u32 { self.area() * 2 }\n}\n\npub struct Square;\n\nimpl Shape for Square {\n    fn area(&self) -> u32 { 1 }\n}\n\npub fn measure(square: &Square) -> u32 { square.twice() }\n",
            )],
            certain: &[("Shape::twice", &["shop::measure"]), ("Shape::area", &["shop::Shape::twice"])],
        },
    ]);
}

#[test]
fn java_and_csharp_calls_are_followed() {
    assert_callers(&[
        Idiom {
            name: "java: packages, fields, inherited members, super",
            files: &[
                (
                    "src/main/java/org/acme/Base.java",
                    "package org.acme;\n\npublic class Base {\n    protected void log() {}\n    void close() {}\n}\n",
                ),
                (
                    "src/main/java/org/acme/Store.java",
                    "package org.acme;\n\npublic class Store extends Base {\n    public void save() { log(); }\n    @Override void close() { super.close(); }\n    static Store open() { return new Store(); }\n}\n",
                ),
                (
                    "src/main/java/org/shop/App.java",
                    "package org.shop;\n\nimport org.acme.Store;\n\npublic class App {\n    private final Store store = Store.open();\n    void run(Store given) { store.save(); given.save(); Store.open().save(); }\n}\n",
                ),
            ],
            certain: &[
                ("Store.save", &["org.shop.App.run"]),
                ("Base.log", &["org.acme.Store.save"]),
                ("Base.close", &["org.acme.Store.close"]),
                ("Store.open", &["org.shop.App", "org.shop.App.run"]),
            ],
        },
        Idiom {
            name: "c#: namespaces, properties, base",
            files: &[
                (
                    "Core/Store.cs",
                    "namespace Acme.Core;\n\npublic class Base { public virtual void Close() {} public void Log() {} }\n\npublic class Store : Base {\n    public void Save() { Log(); }\n    public override void Close() { base.Close(); }\n}\n",
                ),
                (
                    "Web/App.cs",
                    "using Acme.Core;\n\nnamespace Acme.Web;\n\npublic class App {\n    private readonly Store _store = new Store();\n    public Store Spare { get; set; }\n    public void Run() { _store.Save(); Spare.Save(); var s = new Store(); s.Close(); }\n}\n",
                ),
            ],
            certain: &[
                ("Store.Save", &["Acme.Web.App.Run"]),
                ("Base.Log", &["Acme.Core.Store.Save"]),
                ("Base.Close", &["Acme.Core.Store.Close"]),
                ("Store.Close", &["Acme.Web.App.Run"]),
            ],
        },
    ]);
}

#[test]
fn c_and_cpp_calls_are_followed() {
    assert_callers(&[
        Idiom {
            name: "exported classes and namespaces",
            files: &[
                (
                    "widget.h",
                    "#pragma once\nnamespace ui {\nclass UI_EXPORT Widget : public Base {\n public:\n  void Draw();\n  void Show() { Draw(); }\n};\nclass Base {\n public:\n  void Log() {}\n};\n}\n",
                ),
                (
                    "widget.cc",
                    "#include \"widget.h\"\nnamespace ui {\nvoid Widget::Draw() { Log(); }\nvoid Paint(Widget* widget) { widget->Draw(); }\n}\nint main() { ui::Paint(nullptr); ui::Widget w; w.Show(); }\n",
                ),
            ],
            certain: &[
                ("Widget::Draw", &["ui::Widget::Show", "ui::Paint"]),
                ("Base::Log", &["ui::Widget::Draw"]),
                ("ui::Paint", &["main"]),
                ("Widget::Show", &["main"]),
            ],
        },
        Idiom {
            name: "static functions of C are nobody else's",
            files: &[
                ("a.c", "static void init(void) {}\nvoid a(void) { init(); }\n"),
                ("b.c", "static void init(void) {}\nvoid b(void) { init(); helper(); }\n"),
                ("c.c", "void helper(void) {}\nvoid c(void) { init(); }\n"),
            ],
            certain: &[("init", &["a", "b"]), ("helper", &["b"])],
        },
    ]);
}

#[test]
fn ruby_and_php_calls_are_followed() {
    assert_callers(&[
        Idiom {
            name: "ruby: bare calls to inherited methods and mixins",
            files: &[
                (
                    "lib/base.rb",
                    "module Loud\n  def shout\n    1\n  end\nend\n\nclass Base\n  def log\n    1\n  end\nend\n",
                ),
                (
                    "lib/store.rb",
                    "class Store < Base\n  include Loud\n\n  def save\n    log\n    log()\n    shout()\n  end\nend\n\ndef run\n  store = Store.new\n  store.save\nend\n",
                ),
            ],
            certain: &[("Base#log", &["Store#save"]), ("Loud#shout", &["Store#save"]), ("Store#save", &["run"])],
        },
        Idiom {
            name: "php: namespaces, promoted properties, parent, traits",
            files: &[
                (
                    "src/Base.php",
                    "<?php\nnamespace App\\Core;\n\ntrait Loud { public function shout() {} }\n\nclass Base { public function close() {} }\n",
                ),
                (
                    "src/Store.php",
                    "<?php\nnamespace App\\Core;\n\nclass Store extends Base {\n    use Loud;\n    public function save() { $this->shout(); }\n    public function close() { parent::close(); }\n    public static function open(): Store { return new Store(); }\n}\n",
                ),
                (
                    "src/App.php",
                    "<?php\nnamespace App\\Web;\n\nuse App\\Core\\Store as Shop;\n\nclass App {\n    public function __construct(private Shop $store) {}\n    public function run() { $this->store->save(); Shop::open()->save(); }\n}\n",
                ),
            ],
            certain: &[
                ("Store::save", &["App\\Web\\App::run"]),
                ("Loud::shout", &["App\\Core\\Store::save"]),
                ("Base::close", &["App\\Core\\Store::close"]),
                ("Store::open", &["App\\Web\\App::run"]),
            ],
        },
    ]);
}

#[test]
fn what_a_variable_holds_is_followed_as_far_as_it_is_sure() {
    assert_callers(&[
        Idiom {
            name: "a variable that holds a function",
            files: &[
                ("store.py", "def save(item):\n    return item\n"),
                (
                    "a.py",
                    "import store\n\n\ndef one():\n    keep = store.save\n    keep(1)\n\n\ndef two(keep):\n    keep(1)\n",
                ),
            ],
            certain: &[("store.save", &["a.one"])],
        },
        Idiom {
            name: "members taken out of a module",
            files: &[
                ("utils.js", "exports.clamp = function (it) { return it; };\nexports.grow = function () {};\n"),
                (
                    "a.js",
                    "const utils = require('./utils');\nconst { clamp, grow: larger } = utils;\nfunction one() { clamp(1); larger(); }\n",
                ),
            ],
            certain: &[("utils.clamp", &["a.one"]), ("utils.grow", &["a.one"])],
        },
        Idiom {
            name: "another value in a branch",
            files: &[(
                "a.py",
                "class A:\n    def save(self):\n        pass\n\n\nclass B:\n    def save(self):\n        pass\n\n\ndef either(flag):\n    it = A()\n    if flag:\n        it = B()\n    it.save()\n\n\ndef always():\n    it = A()\n    it = B()\n    it.save()\n\n\ndef late(flag):\n    it = None\n    if flag:\n        it = A()\n    it.save()\n",
            )],
            certain: &[("a.A.save", &["a.late"]), ("a.B.save", &["a.always"])],
        },
        Idiom {
            name: "a declaration ends with its block",
            files: &[(
                "Shop.java",
                "package shop;\n\nclass Disk { void save() {} }\nclass Tape { void save() {} }\n\nclass Shop {\n    void run(Disk it) {\n        if (it != null) { Tape other = new Tape(); other.save(); }\n        it.save();\n    }\n}\n",
            )],
            certain: &[("shop.Disk.save", &["shop.Shop.run"]), ("shop.Tape.save", &["shop.Shop.run"])],
        },
        Idiom {
            name: "a type that has a constructor",
            files: &[(
                "Builder.java",
                "package shop;\n\nclass Builder {\n    Builder() {}\n    Builder lenient() { return this; }\n    void create() {}\n}\n\nclass User {\n    void use() { new Builder().lenient().create(); }\n}\n",
            )],
            certain: &[("Builder.create", &["shop.User.use"])],
        },
        Idiom {
            name: "fields behind macros",
            files: &[(
                "table.cc",
                "class Cache {\n public:\n  void Ref() {}\n};\n\nclass Table {\n public:\n  void Open() { cache_->Ref(); }\n\n private:\n  Cache* cache_ GUARDED_BY(mutex_);\n};\n",
            )],
            certain: &[("Cache::Ref", &["Table::Open"])],
        },
    ]);
}
