import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

const CONTEXT_LINES = 3;
/** Computing the diff blocks the event loop, so it is given up after this time. */
const TIMEOUT_MS = 40;

/** Returns null if the diff takes too long. */
export function unifiedDiff(path: string, before: string, after: string): string | null {
  if (before === after) return '';
  const patch = createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    timeout: TIMEOUT_MS,
    headerOptions: FILE_HEADERS_ONLY,
  });
  return patch ?? null;
}
