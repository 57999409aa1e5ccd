import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const SOURCES = fileURLToPath(new URL('../../packages/patchboard/src/', import.meta.url));
const LEVELS = ['info', 'warn', 'error'];
/** Files that pass on events of others, such as those of tools, whose names are arbitrary. */
const PASS_ON = ['core/providers/call-context.ts', 'sources/shared/secret-mask.ts'];

/** Every log event of the server with its level, read from the sources. */
export function loggedEvents(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const file of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || /\.(test|test-d|contract)\.ts$/.test(file)) continue;
    for (const { event, level } of logsIn(file, readFileSync(join(SOURCES, file), 'utf8'))) {
      const other = found.get(event) ?? level;
      if (other !== level) throw new Error(`${event} is logged as ${other} and as ${level}`);
      found.set(event, level);
    }
  }
  return found;
}

export function logsIn(file: string, text: string): { event: string; level: string }[] {
  const logs: { event: string; level: string }[] = [];
  const visit = (node: ts.Node): void => {
    const level = ts.isCallExpression(node) ? levelOf(node.expression) : null;
    if (level !== null && ts.isCallExpression(node)) {
      const [event] = node.arguments;
      if (event !== undefined && ts.isStringLiteral(event)) logs.push({ event: event.text, level });
      else if (!PASS_ON.includes(file)) throw new Error(`${file}: an event is logged that has no fixed name`);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  return logs;
}

/** `log.warn`, `context.log.warn` and `this.#log.warn` alike. */
function levelOf(callee: ts.Expression): string | null {
  if (!ts.isPropertyAccessExpression(callee) || !LEVELS.includes(callee.name.text)) return null;
  const log = callee.expression;
  const name = ts.isPropertyAccessExpression(log) ? log.name.text : ts.isIdentifier(log) ? log.text : '';
  return name === 'log' || name === '#log' ? callee.name.text : null;
}
