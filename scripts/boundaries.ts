import { posix } from 'node:path';
import ts from 'typescript';

/** A source file: its path from the root of the repository, with forward slashes, and its text. */
export type SourceFile = { path: string; text: string };

/**
 * A part of the sources with its own import rules. `core`, `transports/agent-api`, `wire` and `top` are
 * zones.
 */
type Zone = string;

/** The zone that may import every part: the folders and the file of `WIRING`. */
const TOP = 'top';
const PACKAGES = ['wire', 'client', 'console', 'patchboard'];
const WIRING = ['board', 'wiring', 'settings', 'cli', 'index.ts'];
/** Each subfolder of these is a separate adapter. */
const GROUPS = ['sources', 'packs', 'transports'];
/** Every transport may import it. */
const SHARED_TRANSPORT = 'transports/shared';
/** Every source may import it. */
const SHARED_SOURCE = 'sources/shared';
/**
 * The folders of core, from the bottom up. A file imports its own layer and those below it, so that a call is read in one
 * direction: engine, steps (intake to record), providers, settlement, call. `.`: the files beside the folders.
 */
const CORE_LAYERS: readonly (readonly string[])[] = [
  ['json'],
  ['.', 'access', 'call', 'hooks', 'ledger', 'resources', 'search', 'tools'],
  ['settlement'],
  ['devices', 'providers', 'upstreams'],
  ['steps'],
  ['engine.ts', 'engine-services.ts'],
];
const CORE = 'packages/patchboard/src/core/';
const ENVIRONMENT_READER = 'packages/patchboard/src/settings/environment.ts';

/** Words of one API, pack or protocol. Stored names such as the document kind `todo` are no identifiers. */
const FOREIGN_TO_CORE = /npc|vcp|todo|cookie/i;
const CORE_KNOWS = 'it knows calls, tools, providers, policy, ledger and time';

/** Returns one line for each import rule that a file breaks. */
export function findBreaches(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => breachesOf(file).map((breach) => `${file.path}: ${breach}`));
}

function breachesOf(file: SourceFile): string[] {
  const breaches: string[] = [];
  const name = posix.basename(file.path).split('.')[0] ?? '';
  if (['utils', 'util', 'helpers', 'common', 'misc'].includes(name))
    breaches.push(`"${name}" names nothing; name the file after what it holds`);

  const facts = read(file);
  if (facts.exportsAll) breaches.push('"export *" hides what is public; list the names');
  if (isTest(file.path)) return breaches;

  if (facts.readsEnvironment && file.path !== ENVIRONMENT_READER)
    breaches.push('only settings/environment.ts reads the environment');
  if (zoneOf(file.path) === 'core')
    breaches.push(...facts.identifiers.map((named) => `core must not know "${named}": ${CORE_KNOWS}`));
  for (const specifier of facts.imports) {
    const problem = problemWithImport(file.path, specifier);
    if (problem !== undefined) breaches.push(problem);
  }
  return breaches;
}

/** A test may import parts that must not import each other. */
function isTest(path: string): boolean {
  return /\.(test|test-d|contract)\.ts$/.test(path);
}

function problemWithImport(path: string, specifier: string): string | undefined {
  const from = zoneOf(path);
  const to = targetOf(path, specifier);
  if (to === undefined)
    return mayUsePackages(from, path, specifier)
      ? undefined
      : `${from} must not import the package "${specifier}"`;
  if (to === 'outside') return `"${specifier}" leaves the package; import it by its name`;
  if (from === 'core' && to === 'core') return problemInsideCore(path, specifier);
  if (to === from || mayImport(from, to)) return undefined;
  return `${from} must not import ${to} ("${specifier}")`;
}

function problemInsideCore(path: string, specifier: string): string | undefined {
  const from = coreFolderOf(path);
  const to = coreFolderOf(posix.join(posix.dirname(path), specifier));
  const [below, above] = [to, from].map((folder) => CORE_LAYERS.findIndex((layer) => layer.includes(folder)));
  if (below === undefined || above === undefined || below === -1 || above === -1)
    return `core/${below === -1 ? to : from} is in no layer of core ("${specifier}")`;
  if (below <= above) return undefined;
  return `core/${from} must not import core/${to}, which is a layer above it ("${specifier}")`;
}

function coreFolderOf(path: string): string {
  const [first = '', second] = path.slice(CORE.length).split('/');
  if (second !== undefined) return first;
  return CORE_LAYERS.some((layer) => layer.includes(first)) ? first : '.';
}

function mayImport(from: Zone, to: Zone): boolean {
  if (from === TOP) return true;
  if (from === 'wire') return false;
  if (to === 'wire') return true;
  if (from === 'client' || from === 'core') return false;
  if (from === 'console') return to === 'client';
  if (to === 'core') return true;
  // What everything that uses PostgreSQL shares.
  if (to === 'postgres') return from === 'store' || from === 'bus' || from.startsWith('packs/');
  // The ports of several nodes, which a store and the buses implement.
  if (to === 'cluster') return from === 'store' || from === 'bus';
  // The agent loop uses the SDK's types of calls and results.
  if (from === 'agent') return to === 'protocols' || to === 'sdk';
  if (from === 'sdk') return to === 'protocols';
  if (from.startsWith('sources/')) return to === 'protocols' || to === 'version' || to === SHARED_SOURCE;
  if (from.startsWith('transports/'))
    return to === 'protocols' || to === 'version' || to === SHARED_TRANSPORT;
  return false;
}

function mayUsePackages(from: Zone, path: string, specifier: string): boolean {
  if (from === 'client') return specifier === 'vue' && /\/src\/vue[./]/.test(path);
  return from !== 'wire' && from !== 'core' && from !== 'cluster';
}

/** The zone of an import; `outside` for another package's files; undefined for an external package. */
function targetOf(path: string, specifier: string): Zone | undefined {
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(path), specifier);
    return packageOf(target) === packageOf(path) ? zoneOf(target) : 'outside';
  }
  const ours = /^(?:@patchboard\/(wire|client|console)|(patchboard))(?:\/|$)/.exec(specifier);
  if (ours === null) return undefined;
  return ours[1] ?? TOP;
}

function packageOf(path: string): string | undefined {
  return /^packages\/([^/]+)\/src\//.exec(path)?.[1];
}

function zoneOf(path: string): Zone {
  const name = packageOf(path);
  if (name === undefined || !PACKAGES.includes(name)) return 'outside';
  if (name !== 'patchboard') return name;
  const [first = '', second = ''] = path.split('/').slice(3);
  if (WIRING.includes(first)) return TOP;
  if (GROUPS.includes(first)) return `${first}/${second.replace(/\.ts$/, '')}`;
  return first.replace(/\.ts$/, ''); // a folder that the table does not name is an adapter
}

/** `identifiers`: those that `FOREIGN_TO_CORE` matches. */
type Facts = { imports: string[]; exportsAll: boolean; readsEnvironment: boolean; identifiers: string[] };

function read(file: SourceFile): Facts {
  const facts: Facts = { imports: [], exportsAll: false, readsEnvironment: false, identifiers: [] };
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier !== undefined) facts.imports.push(specifier);
    if (ts.isIdentifier(node) && FOREIGN_TO_CORE.test(node.text)) facts.identifiers.push(node.text);
    if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined)
      facts.exportsAll ||= !(node.exportClause && ts.isNamedExports(node.exportClause));
    facts.readsEnvironment ||= specifier === 'node:process' || specifier === 'process' || isEnvironment(node);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(`${file.path}.ts`, scriptOf(file), ts.ScriptTarget.ESNext, true));
  return facts;
}

/** The scripts of a Vue component; any other file is one script. */
function scriptOf({ path, text }: SourceFile): string {
  if (!path.endsWith('.vue')) return text;
  return [...text.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)].map(([, script]) => script).join('\n');
}

/** Static, re-exporting, dynamic and type-only (`import('x').T`) imports alike. */
function specifierOf(node: ts.Node): string | undefined {
  let specifier: ts.Node | undefined;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) specifier = node.moduleSpecifier;
  else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    specifier = node.arguments[0];
  else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    specifier = node.argument.literal;
  return specifier !== undefined && ts.isStringLiteralLike(specifier) ? specifier.text : undefined;
}

/** `process.env`, `process['env']` and `const { env } = process`. */
function isEnvironment(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return isProcess(node.expression) && node.name.text === 'env';
  if (ts.isElementAccessExpression(node)) {
    return (
      isProcess(node.expression) &&
      ts.isStringLiteralLike(node.argumentExpression) &&
      node.argumentExpression.text === 'env'
    );
  }
  if (!ts.isVariableDeclaration(node) || node.initializer === undefined || !isProcess(node.initializer))
    return false;
  return (
    ts.isObjectBindingPattern(node.name) &&
    node.name.elements.some((element) => (element.propertyName ?? element.name).getText() === 'env')
  );
}

function isProcess(node: ts.Expression): boolean {
  if (ts.isPropertyAccessExpression(node)) return node.name.text === 'process'; // globalThis.process
  return ts.isIdentifier(node) && node.text === 'process';
}
