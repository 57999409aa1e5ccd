import type { CallView } from '@patchboard/wire';

/** Time from the first execution to the end; null for a call that is open, or was never executed, such as a denied one. */
export function ranMsOf({ attempts, ran_ms }: Pick<CallView, 'attempts' | 'ran_ms'>): number | null {
  return attempts.length === 0 ? null : ran_ms;
}

/** Names of the devices that received the call, each once, in order. */
export function devicesOf({ attempts }: Pick<CallView, 'attempts'>): readonly string[] {
  return [...new Set(attempts.flatMap(({ device }) => device ?? []))];
}
