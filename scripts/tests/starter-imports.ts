import { posix } from 'node:path';
import ts from 'typescript';

/** Modules that start processes, workers, sockets or browsers. */
const STARTERS = [
  'node:child_process',
  'node:cluster',
  'node:dgram',
  'node:http',
  'node:http2',
  'node:https',
  'node:net',
  'node:tls',
  'node:worker_threads',
  'playwright-core',
  'ws',
];

/**
 * Returns one line for each import through which a test file reaches a module of `STARTERS`, itself or by the test support it
 * imports. Imports of types, and those of the code under test, do not count. `read` returns the text of a file.
 */
export function findStarterImports(testFile: string, read: (path: string) => string): string[] {
  const found: string[] = [];
  const seen = new Set([testFile]);
  for (const path of seen) {
    for (const specifier of runtimeImportsOf(read(path))) {
      if (STARTERS.includes(specifier)) found.push(`${path} imports ${specifier}`);
      const target = posix.join(posix.dirname(path), specifier);
      if (specifier.startsWith('.') && isTestSupport(target)) seen.add(target);
    }
  }
  return found;
}

function isTestSupport(path: string): boolean {
  return /(^|\/)tests?\/|\.(test|contract)\.ts$/.test(path) && path.endsWith('.ts');
}

function runtimeImportsOf(text: string): string[] {
  const specifiers: string[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = runtimeSpecifierOf(node);
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) specifiers.push(specifier.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('file.ts', text, ts.ScriptTarget.ESNext, true));
  return specifiers;
}

/** Static, re-exporting and dynamic imports, without those of types. */
function runtimeSpecifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node)) return isOfTypes(node.importClause) ? undefined : node.moduleSpecifier;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly ? undefined : node.moduleSpecifier;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return node.arguments[0];
  return undefined;
}

function isOfTypes(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  const named = clause.namedBindings;
  return (
    clause.phaseModifier === ts.SyntaxKind.TypeKeyword ||
    (clause.name === undefined &&
      named !== undefined &&
      ts.isNamedImports(named) &&
      named.elements.every(({ isTypeOnly }) => isTypeOnly))
  );
}
