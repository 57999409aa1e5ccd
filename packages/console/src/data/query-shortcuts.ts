import { QUERY_LIMITS, queryTerm, queryTerms, withQueryTerm, type QueryKeyName } from '@patchboard/wire';

/** Returns the value of a key that has exactly one and excludes none; empty otherwise, because no single choice shows it. */
export function singleValue(query: string, name: QueryKeyName): string {
  const own = queryTerms(query).filter(({ key }) => key === name);
  const [term] = own;
  if (term === undefined || own.length > 1 || term.isNegated || term.values.length > 1) return '';
  return term.values[0]?.text ?? '';
}

/** Whether the query has a term of the key, of any form. */
export function hasKey(query: string, name: QueryKeyName): boolean {
  return queryTerms(query).some(({ key }) => key === name);
}

/** Replaces the values of a key; an empty value removes them. */
export function withSingleValue(query: string, name: QueryKeyName, value: string): string {
  return withQueryTerm(query, name, value === '' ? null : [value]);
}

/** Returns a query for the calls of these tools, or of the first of them that fit into a query; empty without tools. */
export function toolsTerm(tools: readonly string[]): string {
  let term = '';
  const names: string[] = [];
  for (const name of [...new Set(tools)].sort()) {
    names.push(name);
    const longer = queryTerm('tool', names);
    if (longer.length > QUERY_LIMITS.characters) break;
    term = longer;
  }
  return term;
}
