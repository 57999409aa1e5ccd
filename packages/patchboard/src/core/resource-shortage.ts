import { failure, type Failure } from './failures.ts';

/** Transient system errors: a resource of the process or the machine is exhausted. */
const SHORTAGES: ReadonlyMap<unknown, string> = new Map([
  ['EMFILE', 'the server has no file descriptors left (EMFILE)'],
  ['ENFILE', 'the machine has no file descriptors left (ENFILE)'],
  ['ENOMEM', 'the machine has no memory left (ENOMEM)'],
  ['EAGAIN', 'the server may start no more processes (EAGAIN)'],
]);

/** The failure of a call that could not start `what`; null for any other error. */
export function shortageFailure(error: unknown, what: string): Failure | null {
  const problem = SHORTAGES.get((error as { code?: unknown } | null)?.code);
  if (problem === undefined) return null;
  return failure('overloaded', `${what} could not be started: ${problem}`, {
    recommendations: ['try again later', 'operators: see "File descriptors" in docs/guides/operations.md'],
  });
}
