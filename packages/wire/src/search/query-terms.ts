import { reason, type Reason } from '../reasons/reason-text.ts';
import type { QueryProblem } from './call-query.ts';
import { queryKey, type QueryKeyName } from './query-keys.ts';

/** A part of the text of a query; the column is from 1. */
export interface QueryPart {
  readonly column: number;
  readonly length: number;
}

export interface QueryValue extends QueryPart {
  /** Without quotes and escapes. The part has them; its length is 0 if the value is missing. */
  readonly text: string;
  readonly isQuoted: boolean;
}

/** One term of a query, whether or not it is valid. */
export interface QueryTerm extends QueryPart {
  readonly isNegated: boolean;
  /** In lower case; null for text. */
  readonly key: string | null;
  readonly operator: string | null;
  /** Those of a comma-separated list; a text has one. */
  readonly values: readonly QueryValue[];
}

interface LexedQuery {
  readonly terms: readonly QueryTerm[];
  readonly problems: readonly QueryProblem[];
}

/** A name directly followed by an operator begins a term with a key. The full-width ones come from Chinese keyboards. */
const KEYED = /([A-Za-z][A-Za-z_]*)(>=|<=|[:><=：＞＜＝])/y;
const SPACE = /\s/;

/** Splits a query into its terms, also one that has problems: for highlighting. */
export function queryTerms(text: string): readonly QueryTerm[] {
  return lexQuery(text).terms;
}

export function problemAt({ column, length }: QueryPart, { code, params }: Reason): QueryProblem {
  return { code, params, column, length };
}

/** Reports only problems of quotes; the parser finds the others. */
export function lexQuery(text: string): LexedQuery {
  const terms: QueryTerm[] = [];
  const problems: QueryProblem[] = [];
  let at = 0;
  for (;;) {
    while (at < text.length && isSpace(text, at)) at += 1;
    if (at >= text.length) return { terms, problems };
    const term = termAt(text, at, problems);
    terms.push(term);
    at += term.length;
  }
}

function termAt(text: string, start: number, problems: QueryProblem[]): QueryTerm {
  const isNegated = text[start] === '-' && start + 1 < text.length && !isSpace(text, start + 1);
  const from = isNegated ? start + 1 : start;
  const keyed = keyedAt(text, from);
  const values: QueryValue[] = [];
  let end = keyed === null ? from : keyed.end;
  for (;;) {
    const value = valueAt(text, end, keyed !== null, problems);
    values.push(value);
    end = value.column - 1 + value.length;
    if (keyed === null || text[end] !== ',') break;
    end += 1;
  }
  const { key, operator } = keyed ?? { key: null, operator: null };
  return { column: start + 1, length: end - start, isNegated, key, operator, values };
}

/** An `=` after a name that is no key is text: `city=Oslo`. */
function keyedAt(text: string, at: number): { key: string; operator: string; end: number } | null {
  KEYED.lastIndex = at;
  const [whole = '', name = '', operator = ''] = KEYED.exec(text) ?? [];
  const key = name.toLowerCase();
  if (whole === '' || ('=：＞＜＝'.includes(operator) && queryKey(key) === undefined)) return null;
  return { key, operator, end: at + whole.length };
}

function valueAt(text: string, start: number, isInList: boolean, problems: QueryProblem[]): QueryValue {
  const endsAt = (at: number): boolean =>
    at >= text.length || isSpace(text, at) || (isInList && text[at] === ',');
  if (text[start] !== '"') {
    let end = start;
    while (!endsAt(end)) end += 1;
    return { text: text.slice(start, end), column: start + 1, length: end - start, isQuoted: false };
  }
  const quoted = quotedAt(text, start);
  const part = { column: start + 1, length: quoted.end - start };
  if (!quoted.isClosed) problems.push(problemAt(part, reason('query_quote_unclosed')));
  let end = quoted.end;
  while (!endsAt(end)) end += 1;
  if (end > quoted.end) {
    const rest = { column: quoted.end + 1, length: end - quoted.end };
    problems.push(problemAt(rest, reason('query_after_quote')));
  }
  return { text: quoted.text, column: start + 1, length: end - start, isQuoted: true };
}

function quotedAt(text: string, start: number): { text: string; end: number; isClosed: boolean } {
  let content = '';
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at] ?? '';
    const next = text[at + 1];
    if (char === '"') return { text: content, end: at + 1, isClosed: true };
    if (char === '\\' && (next === '"' || next === '\\')) {
      content += next;
      at += 1;
    } else content += char;
  }
  return { text: content, end: text.length, isClosed: false };
}

function isSpace(text: string, at: number): boolean {
  return SPACE.test(text[at] ?? '');
}

/** Writes a value so that it is read back as it is. */
export function quotedValue(value: string): string {
  return /^[^\s,"][^\s,]*$/.test(value) ? value : quoted(value);
}

/** The same for text. */
export function quotedText(text: string): string {
  const isPlain = /^[^\s"-]\S*$/.test(text) && keyedAt(text, 0) === null;
  return isPlain ? text : quoted(text);
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/**
 * Writes one term: `tool:a,"b c"`. A value of a duration begins with its operator, and each is a term: `>2s` of `ran`.
 */
export function queryTerm(name: QueryKeyName, values: readonly string[], isNegated = false): string {
  const prefix = `${isNegated ? '-' : ''}${name}`;
  if (queryKey(name)?.kind === 'duration') return values.map((value) => prefix + value).join(' ');
  return `${prefix}:${values.map(quotedValue).join(',')}`;
}

/** Replaces every term of the key, also excluding ones; null removes them. Other terms stay as they are written. */
export function withQueryTerm(text: string, name: QueryKeyName, values: readonly string[] | null): string {
  const others = queryTerms(text).filter(({ key }) => key !== name);
  const kept = others.map(({ column, length }) => text.slice(column - 1, column - 1 + length));
  return [...kept, ...(values === null ? [] : [queryTerm(name, values)])].join(' ');
}
