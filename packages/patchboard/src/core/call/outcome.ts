import type { Failure } from '../failures.ts';

/** How one execution, or the whole call, ended. A failure is a value that the model reads, not an exception. */
export type Outcome = { readonly kind: 'ok'; readonly value: unknown } | BadOutcome;

export type BadOutcome =
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'timed_out'; readonly failure: Failure }
  | { readonly kind: 'denied'; readonly failure: Failure }
  | { readonly kind: 'cancelled'; readonly failure: Failure }
  | { readonly kind: 'sealed'; readonly failure: Failure };

export function failed(failure: Failure): BadOutcome {
  return { kind: 'failed', failure };
}
