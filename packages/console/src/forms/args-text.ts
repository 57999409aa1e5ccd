import {
  applyEdits,
  findNodeAtLocation,
  modify,
  parseTree,
  printParseErrorCode,
  type JSONPath,
  type Node,
  type ParseError,
} from 'jsonc-parser';

/**
 * The arguments are one JSON text, the only state. The editor replaces it, the form writes one path at a
 * time.
 */

export type ParsedArgs =
  | {
      readonly ok: true;
      /** For requests: numbers that JavaScript would round keep their source text. */
      readonly value: unknown;
      /** For display: plain values. */
      readonly plain: unknown;
      readonly tree: Node;
    }
  | { readonly ok: false; readonly problem: JsonProblem };

/** Position and code of a JSON error. */
export interface JsonProblem {
  readonly code: string;
  readonly from: number;
  readonly to: number;
  readonly line: number;
  readonly column: number;
}

const FORMAT = { formattingOptions: { tabSize: 2, insertSpaces: true, eol: '\n' } };

export function parseArgs(text: string): ParsedArgs {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: false, disallowComments: true });
  const [first] = errors;
  if (first !== undefined || tree === undefined) {
    const from = first?.offset ?? 0;
    const code = first === undefined ? 'ValueExpected' : printParseErrorCode(first.error);
    return {
      ok: false,
      problem: { code, from, to: from + (first?.length ?? 1), ...placeOf(text, from) },
    };
  }
  return { ok: true, value: exactValue(text), plain: JSON.parse(text), tree };
}

/** `JSON.rawJSON` and the reviver's source text are missing in TypeScript's types. */
type ExactJson = { rawJSON?: (text: string) => unknown };
type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown;

function exactValue(text: string): unknown {
  const { rawJSON } = JSON as ExactJson;
  const revive: Reviver = (_key, value, context) =>
    typeof value === 'number' &&
    rawJSON !== undefined &&
    context?.source !== undefined &&
    isRounded(context.source)
      ? rawJSON(context.source)
      : value;
  return JSON.parse(text, revive as (this: unknown, key: string, value: unknown) => unknown);
}

/** Whether JavaScript would change the number. */
export function isRounded(source: string): boolean {
  const number = Number(source);
  if (!Number.isFinite(number)) return true;
  return /^-?\d+$/.test(source) && !Number.isSafeInteger(number);
}

export function nodeAt(tree: Node | undefined, path: JSONPath): Node | undefined {
  return tree === undefined ? undefined : findNodeAtLocation(tree, path);
}

/** The JSON text at a path; undefined if there is none. */
export function sourceAt(text: string, tree: Node | undefined, path: JSONPath): string | undefined {
  const node = nodeAt(tree, path);
  return node === undefined ? undefined : text.slice(node.offset, node.offset + node.length);
}

/** Writes JSON text at a path; undefined removes the value. All other text is unchanged. */
export function replaceAt(text: string, path: JSONPath, source: string | undefined): string {
  const base = text.trim() === '' ? '{}' : text;
  if (path.length === 0) return source ?? '{}';
  if (source === undefined) return applyEdits(base, modify(base, path, undefined, FORMAT));
  // The library writes values and would round numbers: it writes a placeholder, which is then replaced by the text.
  const mark = `\u{f8ff}${base.length}\u{f8ff}`;
  const marked = applyEdits(base, modify(base, path, mark, FORMAT));
  return marked.replace(JSON.stringify(mark), () => source);
}

export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Converts a path to a JSON pointer, `/a/0/b`. */
export function pointerOf(path: JSONPath): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Converts a JSON pointer to a path in this tree, which shows which segments are indexes. */
export function pathOf(tree: Node | undefined, pointer: string): JSONPath {
  const path: JSONPath = [];
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const isIndex = nodeAt(tree, path)?.type === 'array' && /^\d+$/.test(name);
    path.push(isIndex ? Number(name) : name);
  }
  return path;
}
