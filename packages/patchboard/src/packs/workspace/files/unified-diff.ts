import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

const CONTEXT_LINES = 3;
/** Past it the diff is not worth the wait: the whole server waits with it. */
const PATIENCE_MS = 40;

/** Null: the texts differ in too many places to say it soon. */
export function unifiedDiff(path: string, before: string, after: string): string | null {
  if (before === after) return '';
  const patch = createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    timeout: PATIENCE_MS,
    headerOptions: FILE_HEADERS_ONLY,
  });
  return patch ?? null;
}
