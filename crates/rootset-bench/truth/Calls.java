// Who calls whom in a tree of Java, as javac sees it: JSON lines for `rootset-bench code-answers`. What javac cannot
// resolve is left out; packages that are not in the tree may be missing.
//
//   java Calls.java TREE > truth.jsonl        (JDK 11 or newer)
import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import javax.lang.model.element.*;
import javax.tools.*;

public class Calls {
    static JavacTask task;
    static Trees trees;
    static Path root;

    public static void main(String[] arguments) throws Exception {
        root = Path.of(arguments[0]).toRealPath();
        List<Path> files;
        try (Stream<Path> all = Files.walk(root)) {
            files = all.filter(it -> it.toString().endsWith(".java") && !it.endsWith("module-info.java")
                && !it.endsWith("package-info.java")).sorted().collect(Collectors.toList());
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null);
        List<String> options = List.of("-proc:none", "-implicit:none", "-XDshould-stop.ifError=FLOW", "-Xmaxerrs", "1000000");
        task = (JavacTask) compiler.getTask(Writer.nullWriter(), manager, it -> {}, options, null,
            manager.getJavaFileObjectsFromPaths(files));
        trees = Trees.instance(task);
        List<CompilationUnitTree> units = new ArrayList<>();
        for (CompilationUnitTree unit : task.parse()) units.add(unit);
        task.analyze();
        PrintStream out = new PrintStream(new BufferedOutputStream(System.out), false, "UTF-8");
        for (CompilationUnitTree unit : units) new Visitor(unit, out).scan(unit, null);
        out.flush();
    }

    static String path(CompilationUnitTree unit) {
        return root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
    }

    static class Visitor extends TreePathScanner<Void, Void> {
        final CompilationUnitTree unit;
        final PrintStream out;

        Visitor(CompilationUnitTree unit, PrintStream out) {
            this.unit = unit;
            this.out = out;
        }

        @Override public Void visitMethodInvocation(MethodInvocationTree node, Void unused) {
            ExpressionTree called = node.getMethodSelect();
            Element element = trees.getElement(getCurrentPath());
            long end = trees.getSourcePositions().getEndPosition(unit, called);
            String name = called instanceof MemberSelectTree
                ? ((MemberSelectTree) called).getIdentifier().toString() : called.toString();
            if (end > 0) say(element, end - name.length(), name);
            return super.visitMethodInvocation(node, unused);
        }

        @Override public Void visitNewClass(NewClassTree node, Void unused) {
            Element element = trees.getElement(getCurrentPath());
            long at = trees.getSourcePositions().getStartPosition(unit, node.getIdentifier());
            String name = node.getIdentifier().toString().replaceAll("<.*", "").replaceAll(".*\\.", "");
            if (node.getClassBody() == null && at > 0) say(element, at, name);
            return super.visitNewClass(node, unused);
        }

        void say(Element element, long at, String name) {
            if (element == null || element.asType().getKind() == javax.lang.model.type.TypeKind.ERROR) return;
            if (name.equals("this") || name.equals("super")) return;
            StringBuilder targets = new StringBuilder();
            // A constructor that nobody wrote is its class.
            place(element, targets);
            if (targets.length() == 0 && element.getKind() == ElementKind.CONSTRUCTOR) place(element.getEnclosingElement(), targets);
            out.println("{\"file\":\"" + path(unit) + "\",\"line\":" + unit.getLineMap().getLineNumber(at)
                + ",\"name\":\"" + name + "\",\"targets\":[" + targets + "]}");
        }

        void place(Element element, StringBuilder targets) {
            TreePath found = trees.getPath(element);
            if (found == null) return;
            CompilationUnitTree of = found.getCompilationUnit();
            // The line of the name: behind annotations and modifiers.
            Tree leaf = found.getLeaf();
            long at = trees.getSourcePositions().getStartPosition(of, leaf);
            ModifiersTree modifiers = leaf instanceof MethodTree ? ((MethodTree) leaf).getModifiers()
                : leaf instanceof ClassTree ? ((ClassTree) leaf).getModifiers() : null;
            if (modifiers != null) {
                long end = trees.getSourcePositions().getEndPosition(of, modifiers);
                if (end > 0) at = end;
                try {
                    CharSequence text = of.getSourceFile().getCharContent(true);
                    while (Character.isWhitespace(text.charAt((int) at))) at++;
                } catch (IOException unreadable) {
                    return;
                }
            }
            if (at < 0) return;
            targets.append("{\"file\":\"" + path(of) + "\",\"line\":" + of.getLineMap().getLineNumber(at) + "}");
        }
    }
}
