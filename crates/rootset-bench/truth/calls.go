// Who calls whom in a tree of Go, as go/types sees it: JSON lines for `rootset-bench code-answers`. Only the standard
// library is needed. Packages outside of the tree need not be there: what depends on them is left out.
//
//	go run calls.go TREE > truth.jsonl
package main

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

type place struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

type site struct {
	File    string  `json:"file"`
	Line    int     `json:"line"`
	Name    string  `json:"name"`
	Targets []place `json:"targets"`
}

var (
	root    string
	set     = token.NewFileSet()
	modules = map[string]string{} // folder of go.mod, relative, to the module's path
	loaded  = map[string]*types.Package{}
	fixed   = importer.ForCompiler(set, "source", nil)
	infos   = map[string]*types.Info{}
	parsed  = map[string][]*ast.File{}
)

type resolver struct{}

func (resolver) Import(path string) (*types.Package, error) {
	if folder, ok := folderOf(path); ok {
		return load(folder, path, false)
	}
	return fixed.Import(path)
}

func folderOf(path string) (string, bool) {
	for folder, module := range modules {
		if module == "std" && !strings.Contains(strings.Split(path, "/")[0], ".") {
			return filepath.Join(folder, path), true
		}
		if path == module || strings.HasPrefix(path, module+"/") {
			return filepath.Join(folder, strings.TrimPrefix(path, module)), true
		}
	}
	return "", false
}

func load(folder, path string, tests bool) (*types.Package, error) {
	if found, ok := loaded[folder]; ok && !tests {
		return found, nil
	}
	context := build.Default
	context.CgoEnabled = false
	listed, err := context.ImportDir(filepath.Join(root, folder), 0)
	if listed == nil || (err != nil && len(listed.GoFiles) == 0 && !tests) {
		return nil, err
	}
	names := listed.GoFiles
	if tests {
		names = append(append([]string{}, listed.GoFiles...), listed.TestGoFiles...)
	}
	var files []*ast.File
	for _, name := range names {
		if file, err := parser.ParseFile(set, filepath.Join(root, folder, name), nil, 0); file != nil && err == nil {
			files = append(files, file)
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: resolver{}, Error: func(error) {}, FakeImportC: true}
	if !tests {
		loaded[folder] = types.NewPackage(path, listed.Name) // against cycles of broken code
	}
	found, _ := config.Check(path, set, files, info)
	if !tests {
		loaded[folder] = found
	}
	if tests || infos[folder] == nil {
		infos[folder], parsed[folder] = info, files
	}
	return found, nil
}

func at(position token.Pos) (place, bool) {
	found := set.Position(position)
	relative, err := filepath.Rel(root, found.Filename)
	return place{relative, found.Line}, err == nil && !strings.HasPrefix(relative, "..")
}

func main() {
	given, _ := filepath.Abs(os.Args[1])
	root, _ = filepath.EvalSymlinks(given)
	folders := map[string]bool{}
	filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || (entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "vendor" || entry.Name() == ".git")) {
			return filepath.SkipDir
		}
		relative, _ := filepath.Rel(root, filepath.Dir(path))
		if entry.Name() == "go.mod" {
			text, _ := os.ReadFile(path)
			for _, line := range strings.Split(string(text), "\n") {
				if strings.HasPrefix(line, "module ") {
					modules[relative] = strings.Trim(strings.TrimSpace(strings.TrimPrefix(line, "module ")), "\"")
				}
			}
		} else if strings.HasSuffix(path, ".go") {
			folders[relative] = true
		}
		return nil
	})
	var order []string
	for folder := range folders {
		order = append(order, folder)
	}
	sort.Strings(order)
	for _, folder := range order {
		for base, module := range modules {
			if base == "." || folder == base || strings.HasPrefix(folder, base+"/") {
				path := strings.TrimSuffix(module+"/"+strings.TrimPrefix(strings.TrimPrefix(folder, base), "/"), "/.")
				load(folder, path, false)
				load(folder, path, true)
				break
			}
		}
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for _, folder := range order {
		for _, file := range parsed[folder] {
			ast.Inspect(file, func(node ast.Node) bool {
				if call, ok := node.(*ast.CallExpr); ok {
					if said := say(call, infos[folder]); said != nil {
						encoder.Encode(said)
					}
				}
				return true
			})
		}
	}
}

func say(call *ast.CallExpr, info *types.Info) *site {
	called := unparenthesised(call.Fun)
	if indexed, ok := called.(*ast.IndexExpr); ok {
		called = indexed.X
	}
	var name *ast.Ident
	switch called := called.(type) {
	case *ast.Ident:
		name = called
	case *ast.SelectorExpr:
		name = called.Sel
	default:
		return nil
	}
	object := info.Uses[name]
	if object == nil {
		return nil
	}
	where, ok := at(name.Pos())
	if !ok {
		return nil
	}
	found := &site{File: where.File, Line: where.Line, Name: name.Name, Targets: []place{}}
	if _, isType := object.(*types.TypeName); isType {
		// A conversion is no call.
		return nil
	}
	if function, ok := object.(*types.Func); ok {
		if target, ok := at(function.Pos()); ok && function.Pos().IsValid() {
			found.Targets = append(found.Targets, target)
		}
	}
	return found
}

func unparenthesised(expression ast.Expr) ast.Expr {
	for {
		inner, ok := expression.(*ast.ParenExpr)
		if !ok {
			return expression
		}
		expression = inner.X
	}
}
