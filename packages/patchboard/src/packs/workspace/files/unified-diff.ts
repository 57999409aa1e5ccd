import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

const CONTEXT_LINES = 3;
/** Computing the diff blocks the event loop, so it is given up after this time. */
const TIMEOUT_MS = 40;

/** Returns null if the diff takes longer than `timeoutMs`. */
export function unifiedDiff(
  path: string,
  before: string,
  after: string,
  timeoutMs: number = TIMEOUT_MS,
): string | null {
  if (before === after) return '';
  const patch = createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    timeout: timeoutMs,
    headerOptions: FILE_HEADERS_ONLY,
  });
  return patch ?? null;
}
