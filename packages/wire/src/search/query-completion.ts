import type { Reason } from '../reasons/reason-text.ts';
import { CALL_QUERY_KEYS, queryKey, type QueryKey, type QueryKeyName } from './query-keys.ts';
import { queryTerms, quotedValue, type QueryTerm } from './query-terms.ts';

/** What can be inserted: a key with its operator, a value, or a whole term. */
export interface QueryOption {
  readonly text: string;
  readonly help: Reason | null;
}

/** What fits at the cursor. Offsets are from 0. */
export interface QueryCompletion {
  /** `text`: nothing can be suggested. */
  readonly kind: 'key' | 'value' | 'text';
  /** The key of a value; otherwise null. */
  readonly key: QueryKeyName | null;
  /** What stands before the cursor, without a quote. */
  readonly typed: string;
  /** The part of the text that an option replaces. */
  readonly from: number;
  readonly to: number;
  /** Options that begin with `typed`, then those that contain it. */
  readonly options: readonly QueryOption[];
}

/** Keys whose values are suggested without the key. */
const SHORT_FORMS: readonly QueryKeyName[] = ['state', 'code'];
const SHORT_FORM_LENGTH = 3;

/** Returns what can be written at the cursor. The caller adds values that only a server knows: tools, agents, ids. */
export function completionAt(text: string, cursor: number): QueryCompletion {
  const at = Math.max(0, Math.min(cursor, text.length));
  const term = queryTerms(text).find(({ column, length }) => column - 1 <= at && at <= column - 1 + length);
  if (term === undefined) return keyCompletion(text, at, at, at, false);
  const start = term.column - 1 + (term.isNegated ? 1 : 0);
  const end = term.column - 1 + term.length;
  if (term.key === null) {
    const isText = term.values[0]?.isQuoted === true || at < start;
    return isText ? nothing(at) : keyCompletion(text, start, end, at, term.isNegated);
  }
  const valueStart = start + term.key.length + (term.operator ?? '').length;
  if (at < valueStart) return keyCompletion(text, start, valueStart, at, term.isNegated);
  return valueCompletion(text, term, at);
}

function keyCompletion(
  text: string,
  from: number,
  to: number,
  at: number,
  isNegated: boolean,
): QueryCompletion {
  const typed = text.slice(from, Math.max(from, at));
  const keys = CALL_QUERY_KEYS.filter(({ isNegatable }) => isNegatable || !isNegated);
  const names = keys.map(({ name, operators, help }) => ({ text: `${name}${operators[0] ?? ''}`, help }));
  const terms = typed.length < SHORT_FORM_LENGTH ? [] : keys.flatMap(shortForms);
  const matching = [...matchingOptions(names, typed, ({ text: option }) => option)];
  const short = matchingOptions(terms, typed, ({ value }) => value).map(({ text: option, help }) => ({
    text: option,
    help,
  }));
  return { kind: 'key', key: null, typed, from, to, options: [...matching, ...short] };
}

function shortForms({ name, suggestions, synonyms, help }: QueryKey): (QueryOption & { value: string })[] {
  if (!SHORT_FORMS.includes(name)) return [];
  return [...suggestions, ...synonyms].map((value) => ({ value, text: `${name}:${value}`, help }));
}

function valueCompletion(text: string, term: QueryTerm, at: number): QueryCompletion {
  const key = queryKey(term.key ?? '');
  const value = term.values.find(({ column, length }) => column - 1 <= at && at <= column - 1 + length);
  if (key === undefined || value === undefined) return nothing(at);
  const from = value.column - 1;
  const typed = text.slice(from + (value.isQuoted ? 1 : 0), Math.max(from, at));
  const values = typed === '' ? key.suggestions : [...key.suggestions, ...key.synonyms];
  const known = values.map((suggestion) => ({ text: suggestion, help: null }));
  const options = matchingOptions(known, typed, ({ text: option }) => option);
  return { kind: 'value', key: key.name, typed, from, to: from + value.length, options };
}

function nothing(at: number): QueryCompletion {
  return { kind: 'text', key: null, typed: '', from: at, to: at, options: [] };
}

function matchingOptions<Option>(
  options: readonly Option[],
  typed: string,
  nameOf: (option: Option) => string,
): readonly Option[] {
  const wanted = typed.toLowerCase();
  const places = options.map((option) => ({ option, place: nameOf(option).indexOf(wanted) }));
  return [...places.filter(({ place }) => place === 0), ...places.filter(({ place }) => place > 0)].map(
    ({ option }) => option,
  );
}

/** Puts an option, or a value of the caller, into the text. A space follows whatever ends a term. */
export function insertCompletion(
  text: string,
  { kind, from, to }: Pick<QueryCompletion, 'kind' | 'from' | 'to'>,
  chosen: string,
): { readonly text: string; readonly cursor: number } {
  const inserted = kind === 'value' ? quotedValue(chosen) : chosen;
  const endsTerm = kind === 'value' || !/[:><=]$/.test(chosen);
  const before = text.slice(0, from) + inserted;
  const after = text.slice(to);
  if (!endsTerm) return { text: before + after, cursor: before.length };
  const isSpaced = /^\s/.test(after);
  const space = after === '' ? ' ' : '';
  return { text: before + space + after, cursor: before.length + (isSpaced || after === '' ? 1 : 0) };
}
