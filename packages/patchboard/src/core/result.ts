import type { Call } from './call/call.ts';
import type { Failure } from './failures.ts';

/** A value, or the reason why there is none. */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure; readonly call?: Call };
