import { reason, type Reason } from '@patchboard/wire';
import { failure, type Failure } from './failures.ts';

/** Transient system errors: a resource of the process or the machine is exhausted. */
const SHORTAGES: ReadonlyMap<unknown, Reason> = new Map<unknown, Reason>([
  ['EMFILE', reason('server_out_of_descriptors')],
  ['ENFILE', reason('machine_out_of_descriptors')],
  ['ENOMEM', reason('machine_out_of_memory')],
  ['EAGAIN', reason('server_out_of_processes')],
]);

/** The failure of a call that could not start `what`; null for any other error. */
export function shortageFailure(error: unknown, what: 'command' | 'query'): Failure | null {
  const shortage = SHORTAGES.get((error as { code?: unknown } | null)?.code);
  if (shortage === undefined) return null;
  return failure('overloaded', reason(`${what}_not_started`, { shortage: [shortage] }), {
    recommendations: ['try again later', 'operators: see "File descriptors" in docs/guides/operations.md'],
  });
}
