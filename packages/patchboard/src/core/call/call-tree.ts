import type { Call } from './call.ts';
import type { Lifecycle } from './lifecycle.ts';

/**
 * A sub-agent uses the workspace of the agent that started it: returns the topmost call above this one. It is open for
 * as long.
 */
export function topOf(lifecycle: Pick<Lifecycle, 'find'>, call: Call): Call {
  const above = call.parentCallId === null ? undefined : lifecycle.find(call.parentCallId)?.call;
  return above === undefined ? call : topOf(lifecycle, above);
}
