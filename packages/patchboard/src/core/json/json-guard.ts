import { reasonText, type Reason } from '@patchboard/wire';
import { countValues, type JsonLimits } from './json-scanner.ts';

/** Where and why a text was refused. `offset` counts UTF-16 units from 0, `line` and `column` count from 1. */
export interface JsonProblem {
  readonly problem: string;
  /** The code and parameters of `problem`. */
  readonly reason: Reason;
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

export type GuardedJson =
  { readonly ok: true; readonly value: unknown } | ({ readonly ok: false } & JsonProblem);

/**
 * `JSON.parse` for untrusted text. Besides invalid JSON it refuses what parsers read differently or what is used in
 * attacks: duplicate keys, `__proto__`, `constructor.prototype`, numbers that lose precision, lone surrogates, too deep
 * nesting, too many values. Never throws.
 */
export function parseGuardedJson(text: string, limits: JsonLimits): GuardedJson {
  const found = scanJson(text, limits);
  if (found !== null) return { ok: false, ...found };
  return { ok: true, value: JSON.parse(text) };
}

/** The checks of `parseGuardedJson` alone. Returns null if the text is accepted. */
export function scanJson(text: string, limits: JsonLimits): JsonProblem | null {
  const found = countJsonValues(text, limits);
  return typeof found === 'number' ? null : found;
}

/** As `scanJson`, but returns the number of values if the text is accepted. */
export function countJsonValues(text: string, limits: JsonLimits): number | JsonProblem {
  const found = countValues(text, limits);
  if (typeof found === 'number') return found;
  const { reason, offset } = found;
  return { problem: reasonText(reason), reason, offset, ...placeOf(text, offset) };
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  return { line, column: offset - lineStart + 1 };
}
