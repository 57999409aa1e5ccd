import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml';
import { messageOf } from '../core/failures.ts';

/** A problem in a text, with its line. */
export interface TextProblem {
  readonly line: number;
  /** One line for the operator that names the key. */
  readonly message: string;
}

export interface ParsedText {
  /** Undefined if the text could not be parsed. */
  readonly value: unknown;
  readonly problems: readonly TextProblem[];
  /** Returns the line of the path, or of its nearest existing ancestor. */
  readonly lineOf: (path: readonly string[]) => number;
}

/** Parses YAML or JSON, which is a subset of YAML. */
export function parseText(text: string): ParsedText {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const lineOf = (path: readonly string[]): number => lines.linePos(offsetOf(document, path)).line || 1;
  const problems = document.errors.map((error) => ({
    line: lines.linePos(error.pos[0]).line,
    message: error.message.split('\n')[0] ?? 'cannot be parsed',
  }));
  if (problems.length > 0) return { value: undefined, problems, lineOf };
  try {
    return { value: (document.toJS({ maxAliasCount: 100 }) ?? {}) as unknown, problems, lineOf };
  } catch (error) {
    return { value: undefined, problems: [{ line: 1, message: messageOf(error) }], lineOf };
  }
}

function offsetOf(document: Document, path: readonly string[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === part);
      if (pair === undefined) break;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = startOf(node) ?? offset;
    } else break;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return (node as { readonly range?: readonly number[] | null } | null | undefined)?.range?.[0];
}
