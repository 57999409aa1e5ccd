import { parseCallQuery, reasonText, type CallQuery, type QueryTarget } from '@patchboard/wire';
import { UsageError } from './exit-codes.ts';
import { markedText } from './marked-text.ts';

/** A query as text, and what it means. */
export interface GivenQuery {
  readonly text: string;
  readonly query: CallQuery;
}

/**
 * Joins the words of a command line and `--query` to one query. Throws a `UsageError` that marks each problem in the text;
 * null if there is no query.
 */
export function queryOf(
  words: readonly string[],
  flag: string | undefined,
  now: number,
  target: QueryTarget = 'any',
): GivenQuery | null {
  const text = [...words, ...(flag === undefined ? [] : [flag])].join(' ').trim();
  if (text === '') return null;
  const parsed = parseCallQuery(text, now, target);
  if (parsed.ok) return { text, query: parsed.query };
  const marked = parsed.problems.map((problem) => {
    const lines = markedText(text, problem).map((line) => `  ${line}`);
    return [...lines, `  ${reasonText(problem)}`].join('\n');
  });
  throw new UsageError(`the query is not valid:\n${marked.join('\n')}`);
}
