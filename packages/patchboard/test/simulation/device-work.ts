import type { DeviceFrame } from '@patchboard/wire';

/** How a device reports a result. `other`: also a second, different one. `never`: it forgets the call. */
export type Reporting = 'once' | 'twice' | 'other' | 'never';

export interface DeviceArgs {
  readonly n: number;
  readonly ms: number;
  readonly ends: 'ok' | 'fails';
  readonly reports: Reporting;
  /** Whether the device goes on after `cancel`. */
  readonly isStubborn: boolean;
}

/** A request that the device has received, until its result is acknowledged. */
export interface Work {
  readonly id: string;
  readonly args: DeviceArgs;
  /** The results to send; null while it works. */
  results: readonly DeviceFrame[] | null;
  /** The input request to which it has no response; null if there is none. */
  question: DeviceFrame | null;
  isCancelled: boolean;
}

/** The frames that report the result of finished work. */
export function resultsOf({ id, args: { n, ends, reports } }: Work): DeviceFrame[] {
  if (reports === 'never') return [];
  const first: DeviceFrame =
    ends === 'ok'
      ? { type: 'tool_result', id, output: { n } }
      : { type: 'tool_error', id, error: `tool ${n} fails` };
  if (reports === 'once') return [first];
  return [first, reports === 'twice' ? first : { type: 'tool_result', id, output: { n, other: true } }];
}
