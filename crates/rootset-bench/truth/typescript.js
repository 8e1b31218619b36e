// Who calls whom in a tree of TypeScript or JavaScript, as the TypeScript compiler sees it: JSON lines for
// `rootset-bench code-answers`. What the compiler cannot resolve (`any`) is left out.
//
//   npm install typescript@5 && NODE_PATH=node_modules node typescript.js TREE > truth.jsonl
"use strict";
const fs = require("fs");
const path = require("path");
const ts = require("typescript");

const root = fs.realpathSync(process.argv[2]);
const SKIPPED = new Set(["node_modules", ".git", "dist", "build", "coverage"]);
const SOURCES = /\.(ts|tsx|mts|cts|js|jsx|mjs|cjs)$/;

const files = [];
const configurations = [];
const walk = (folder) => {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) walk(full);
    else if (entry.isFile() && SOURCES.test(entry.name)) files.push(full);
    else if (entry.isFile() && entry.name === "tsconfig.json") configurations.push(full);
  }
};
walk(root);

// Path aliases of the tree's own configurations, and the packages of its workspaces by their names.
const options = {
  allowJs: true, checkJs: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, jsx: ts.JsxEmit.Preserve,
  esModuleInterop: true, strict: true, noImplicitAny: false, experimentalDecorators: true, maxNodeModuleJsDepth: 0, types: [],
  baseUrl: root, paths: {},
};
for (const file of configurations.reverse()) {
  const read = ts.getParsedCommandLineOfConfigFile(file, {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} });
  const base = (read && (read.options.baseUrl || path.dirname(file))) || root;
  for (const [from, to] of Object.entries((read && read.options.paths) || {})) {
    options.paths[from] = to.map((it) => path.relative(root, path.resolve(base, it)));
  }
}
const packages = (folder) => {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || SKIPPED.has(entry.name)) continue;
    const below = path.join(folder, entry.name);
    const manifest = path.join(below, "package.json");
    if (fs.existsSync(manifest)) {
      let name;
      try { name = JSON.parse(fs.readFileSync(manifest, "utf8")).name; } catch { name = undefined; }
      const at = path.relative(root, below);
      if (name && !options.paths[name]) {
        options.paths[name] = ["src/index", "index", "src/main", "lib/index"].map((it) => `${at}/${it}`);
        options.paths[`${name}/*`] = [`${at}/src/*`, `${at}/*`];
      }
    }
    packages(below);
  }
};
packages(root);

const program = ts.createProgram(files, options);
const checker = program.getTypeChecker();
const inTree = (file) => file.startsWith(root + path.sep) && !file.includes(`${path.sep}node_modules${path.sep}`);
const lineOf = (source, at) => source.getLineAndCharacterOfPosition(at).line + 1;
const FUNCTIONS = new Set([
  ts.SyntaxKind.FunctionDeclaration, ts.SyntaxKind.FunctionExpression, ts.SyntaxKind.ArrowFunction,
  ts.SyntaxKind.MethodDeclaration, ts.SyntaxKind.MethodSignature, ts.SyntaxKind.Constructor,
  ts.SyntaxKind.ClassDeclaration, ts.SyntaxKind.ClassExpression,
]);

// The function or type that a declaration is, by the line of its name; undefined for what only holds a function.
const placeOf = (declaration) => {
  if (!FUNCTIONS.has(declaration.kind)) return undefined;
  const source = declaration.getSourceFile();
  if (!inTree(source.fileName)) return undefined;
  let named = declaration;
  if (declaration.kind === ts.SyntaxKind.ArrowFunction || declaration.kind === ts.SyntaxKind.FunctionExpression) {
    const above = declaration.parent;
    if (above && (ts.isVariableDeclaration(above) || ts.isPropertyDeclaration(above)) && ts.isIdentifier(above.name)) named = above;
    else if (above && ts.isBinaryExpression(above)) named = above;
    else if (above && ts.isPropertyAssignment(above)) named = above;
    else if (!declaration.name) return undefined;
  }
  return { file: path.relative(root, source.fileName), line: lineOf(source, (named.name || named).getStart(source)) };
};

const out = [];
for (const file of files) {
  const source = program.getSourceFile(file);
  if (!source) continue;
  const visit = (node) => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) say(source, node);
    ts.forEachChild(node, visit);
  };
  visit(source);
}
function say(source, node) {
  const called = node.expression;
  const name = ts.isIdentifier(called) ? called : ts.isPropertyAccessExpression(called) ? called.name : undefined;
  if (!name || name.text === "require") return;
  const type = checker.getTypeAtLocation(called);
  if (type.flags & ts.TypeFlags.Any) return;
  // Where the name leads, in the first place; the signature's declaration where it leads through a variable.
  let symbol = checker.getSymbolAtLocation(name);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const signature = checker.getResolvedSignature(node);
  const declared = signature && signature.declaration;
  let declarations = (symbol && symbol.declarations) || [];
  declarations = declarations.concat(declared ? [declared] : []).map((it) =>
    (ts.isVariableDeclaration(it) || ts.isPropertyDeclaration(it) || ts.isPropertyAssignment(it)) && it.initializer ? it.initializer : it);
  const targets = [];
  for (const declaration of declarations) {
    const place = placeOf(declaration);
    if (place && !targets.some((it) => it.file === place.file && it.line === place.line)) targets.push(place);
  }
  out.push({ file: path.relative(root, source.fileName), line: lineOf(source, name.getStart(source)), name: name.text, targets });
}
process.stdout.write(out.map((it) => JSON.stringify(it)).join("\n") + "\n");
