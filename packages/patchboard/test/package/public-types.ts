import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../support/server-process.ts';

/** Our own sources; types of other packages are theirs to export. */
const OURS = /\/packages\/[^/]+\/src\//;

/** A program over `files`, which need not exist, and `others`, with the packages read from their sources. */
export function programOf(files: ReadonlyMap<string, string>, others: readonly string[]): ts.Program {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.base.json'), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const settings: ts.CompilerOptions = {
    ...options,
    customConditions: ['patchboard-source'],
    types: ['node'],
    noEmit: true,
    composite: false,
  };
  const host = ts.createCompilerHost(settings);
  host.readFile = (path) => files.get(path) ?? ts.sys.readFile(path);
  host.fileExists = (path) => files.has(path) || ts.sys.fileExists(path);
  return ts.createProgram([...files.keys(), ...others], settings, host);
}

/** What the compiler says of one of the files, line by line. */
export function problemsIn(program: ts.Program, path: string): string[] {
  const source = program.getSourceFile(path);
  const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  return found.map(({ messageText, start = 0 }) => {
    const line = (source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
    return `line ${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}

/** The names that a module exports, values too, as its text has them. */
export function exportedNames(path: string): string[] {
  const source = ts.createSourceFile(path, ts.sys.readFile(path) ?? '', ts.ScriptTarget.ESNext);
  return source.statements.flatMap((statement) => {
    const clause = ts.isExportDeclaration(statement) ? statement.exportClause : undefined;
    return clause !== undefined && ts.isNamedExports(clause)
      ? clause.elements.map(({ name }) => name.text)
      : [];
  });
}

/** `Type of Mentioner`: types that the signature of an export mentions, and that the module does not export. */
export function missingTypes(program: ts.Program, path: string): string[] {
  const checker = program.getTypeChecker();
  const exported = exportsOf(checker, program, path);
  const walk = new SignatureWalk(checker, new Set(exported.map(({ symbol }) => symbol)));
  for (const { name, symbol } of exported) walk.symbol(symbol, name);
  return [...walk.missing].map(([symbol, mentioner]) => `${symbol.name} of ${mentioner}`);
}

interface Exported {
  readonly name: string;
  readonly symbol: ts.Symbol;
}

function exportsOf(checker: ts.TypeChecker, program: ts.Program, path: string): Exported[] {
  const source = program.getSourceFile(path);
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${path} is no module of the program`);
  return checker.getExportsOfModule(module).map((one) => ({ name: one.name, symbol: meant(checker, one) }));
}

function meant(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** Goes through signatures: not into bodies, private members, or what is marked `@internal`. */
class SignatureWalk {
  readonly missing: Map<ts.Symbol, string> = new Map();
  readonly #checker: ts.TypeChecker;
  readonly #exported: ReadonlySet<ts.Symbol>;
  readonly #seen: Set<ts.Symbol> = new Set();

  constructor(checker: ts.TypeChecker, exported: ReadonlySet<ts.Symbol>) {
    this.#checker = checker;
    this.#exported = exported;
  }

  symbol(symbol: ts.Symbol, mentioner: string): void {
    if (this.#seen.has(symbol)) return;
    this.#seen.add(symbol);
    const declarations = symbol.declarations ?? [];
    for (const node of withoutImplementation(declarations)) this.#visit(node, mentioner);
  }

  #visit(node: ts.Node, mentioner: string): void {
    if (isHidden(node) || ts.isBlock(node) || ts.isTypeQueryNode(node)) return;
    if (ts.isPropertyDeclaration(node) || ts.isVariableDeclaration(node)) {
      if (node.type !== undefined) this.#visit(node.type, mentioner);
      return;
    }
    if (ts.isTypeReferenceNode(node)) this.#mention(node.typeName, mentioner);
    else if (ts.isExpressionWithTypeArguments(node)) this.#mention(node.expression, mentioner);
    const children: ts.Node[] = [];
    ts.forEachChild(node, (child) => void children.push(child));
    for (const child of withoutImplementation(children)) this.#visit(child, mentioner);
  }

  #mention(name: ts.Node, mentioner: string): void {
    const found = this.#checker.getSymbolAtLocation(name);
    if (found === undefined) return;
    const symbol = meant(this.#checker, found);
    const [declaration] = symbol.declarations ?? [];
    if (declaration === undefined || symbol.flags & ts.SymbolFlags.TypeParameter) return;
    if (!OURS.test(declaration.getSourceFile().fileName) || this.#exported.has(symbol)) return;
    // What its own module keeps to itself is part of the type that is made of it.
    if (isExported(declaration)) this.missing.set(symbol, this.missing.get(symbol) ?? mentioner);
    this.symbol(symbol, mentioner);
  }
}

/** Of overloads, the signature of the implementation is no caller's. */
function withoutImplementation(nodes: readonly ts.Node[]): readonly ts.Node[] {
  const isOverload = (node: ts.Node): boolean =>
    (ts.isFunctionDeclaration(node) || ts.isConstructorDeclaration(node) || ts.isMethodDeclaration(node)) &&
    node.body === undefined;
  const overloaded = nodes.filter(isOverload).map(nameOf);
  return nodes.filter((node) => isOverload(node) || !('body' in node) || !overloaded.includes(nameOf(node)));
}

function nameOf(node: ts.Node): string {
  const name = ts.getNameOfDeclaration(node as ts.Declaration);
  return `${node.kind} ${name?.getText() ?? ''}`;
}

function isHidden(node: ts.Node): boolean {
  if (ts.isClassElement(node) && node.name !== undefined && ts.isPrivateIdentifier(node.name)) return true;
  return ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'internal');
}

function isExported(node: ts.Node): boolean {
  if (!ts.canHaveModifiers(node)) return false;
  return ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}
