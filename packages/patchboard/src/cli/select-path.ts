import { isRecord } from '@patchboard/wire/json';
import { UsageError } from './exit-codes.ts';
import { markedText } from './marked-text.ts';

/** One step of a path. `column` is where it begins in the text, from 1. */
type SelectStep = SelectKind & {
  /** `?`: a value that the step does not apply to is left out instead of an error. */
  readonly isOptional: boolean;
  readonly column: number;
  readonly length: number;
};

type SelectKind =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly from: number | null; readonly to: number | null }
  | { readonly kind: 'each' };

/** A parsed path. */
export interface SelectPath {
  readonly text: string;
  readonly steps: readonly SelectStep[];
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const QUOTED = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
const INTEGER = /-?\d{1,15}/y;

/**
 * Parses the paths of jq: `.`, `.name`, `."any name"`, `["any name"]`, `[0]`, `[-1]`, `[2:4]`, `[]` and `?` after any of
 * them. Throws a `UsageError` that marks the position.
 */
export function parseSelectPath(given: string): SelectPath {
  const text = given.trim();
  return { text, steps: new PathParser(text).steps() };
}

class PathParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  steps(): SelectStep[] {
    if (this.#text === '') this.#fail('the path is empty: write . for the whole value', 1);
    if (this.#text[0] !== '.') this.#fail('a path begins with a dot');
    const steps: SelectStep[] = [];
    while (this.#at < this.#text.length) {
      const start = this.#at;
      const isFirst = start === 0;
      const kind = this.#text[start] === '.' ? this.#afterDot(isFirst) : this.#inBrackets();
      if (kind === null) continue;
      const isOptional = this.#optional();
      steps.push({ ...kind, isOptional, column: start + 1, length: this.#at - start });
    }
    return steps;
  }

  /** Returns null for a dot that a bracket follows, and for the whole path `.`. */
  #afterDot(isFirst: boolean): SelectKind | null {
    this.#at += 1;
    const next = this.#text[this.#at];
    if (next === '[') return null;
    if (next === undefined && isFirst) return null;
    if (next === '"') return { kind: 'member', name: this.#quoted() };
    const name = this.#match(NAME);
    if (name === null) this.#fail('a name, "a quoted name" or [ is expected after the dot', 1);
    if (this.#text[this.#at] === '-') this.#fail(`quote a name that has a hyphen: ."${name}-…"`);
    return { kind: 'member', name };
  }

  #inBrackets(): SelectKind {
    if (this.#text[this.#at] !== '[')
      this.#fail('only .name, [0], [2:4], [], ["name"] and ? are supported here', 1);
    this.#at += 1;
    const kind = this.#bracketContent();
    if (this.#text[this.#at] !== ']') this.#fail('a ] is expected', 1);
    this.#at += 1;
    return kind;
  }

  #bracketContent(): SelectKind {
    const next = this.#text[this.#at];
    if (next === ']') return { kind: 'each' };
    if (next === '"') return { kind: 'member', name: this.#quoted() };
    const from = this.#match(INTEGER);
    if (this.#text[this.#at] !== ':') {
      if (from === null) this.#fail('a number, "a quoted name" or ] is expected', 1);
      return { kind: 'index', index: Number(from) };
    }
    this.#at += 1;
    const to = this.#match(INTEGER);
    if (from === null && to === null) this.#fail('a slice needs a number before or after the colon', 1);
    return { kind: 'slice', from: from === null ? null : Number(from), to: to === null ? null : Number(to) };
  }

  #quoted(): string {
    const quoted = this.#match(QUOTED);
    if (quoted === null) this.#fail('the quoted name does not end', this.#text.length - this.#at);
    try {
      return JSON.parse(quoted) as string;
    } catch {
      this.#at -= quoted.length;
      return this.#fail('the quoted name has an escape that JSON does not have', quoted.length);
    }
  }

  /** Skips `?`, which may be repeated as in jq. */
  #optional(): boolean {
    const start = this.#at;
    while (this.#text[this.#at] === '?') this.#at += 1;
    return this.#at > start;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found === undefined) return null;
    this.#at += found.length;
    return found;
  }

  #fail(problem: string, length = 1): never {
    throw selectError(problem, this.#text, { column: this.#at + 1, length });
  }
}

/** Returns the values at the path, in order. Throws a `UsageError` if a step does not apply to a value. */
export function selectedValues(path: SelectPath, value: unknown): unknown[] {
  let values = [value];
  for (const step of path.steps) values = values.flatMap((one) => stepInto(path, step, one));
  return values;
}

function stepInto(path: SelectPath, step: SelectStep, value: unknown): readonly unknown[] {
  const found = valuesAt(step, value);
  if (found !== null) return found;
  if (step.isOptional) return [];
  const problem = `${kindOf(value)} has no ${wanted(step)}${advice(step, value)}`;
  throw selectError(problem, path.text, step);
}

/** Returns null if the step does not apply to the value. A missing member or item is null, as in jq. */
function valuesAt(step: SelectStep, value: unknown): readonly unknown[] | null {
  if (step.kind === 'each') {
    if (Array.isArray(value)) return value as readonly unknown[];
    return isRecord(value) ? Object.values(value) : null;
  }
  if (value === null) return [null];
  if (step.kind === 'member') {
    if (!isRecord(value)) return null;
    return [Object.hasOwn(value, step.name) ? value[step.name] : null];
  }
  if (step.kind === 'slice' && typeof value === 'string')
    return [
      Array.from(value)
        .slice(step.from ?? 0, step.to ?? undefined)
        .join(''),
    ];
  if (!Array.isArray(value)) return null;
  if (step.kind === 'slice') return [value.slice(step.from ?? 0, step.to ?? undefined)];
  return [(value as readonly unknown[]).at(step.index) ?? null];
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function wanted(step: SelectStep): string {
  switch (step.kind) {
    case 'member':
      return `member ${JSON.stringify(step.name)}`;
    case 'index':
      return `item ${step.index}`;
    case 'slice':
      return 'slices';
    case 'each':
      return 'items';
  }
}

function advice({ kind }: SelectStep, value: unknown): string {
  if (Array.isArray(value) && kind === 'member')
    return ': write [] before it for each item, [0] for the first';
  return isRecord(value) && kind !== 'member' ? ': write .name for a member' : '';
}

function selectError(
  problem: string,
  text: string,
  part: { readonly column: number; readonly length: number },
): UsageError {
  const lines = markedText(text, part).map((line) => `  ${line}`);
  return new UsageError(`--select: ${problem}\n${lines.join('\n')}`);
}
