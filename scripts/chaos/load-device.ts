import { setTimeout as sleep } from 'node:timers/promises';
import { connectDevice, deviceTool, type Device } from '@patchboard/client';
import type { RecordEffect } from './effects.ts';
import type { History } from './history.ts';
import { DEVICE_PACE } from './device-worker-options.ts';

/** Not idempotent. */
export const DEVICE_TOOL = 'chaos.device';
const TIMEOUT_MS = 15_000;

export interface LoadDeviceOptions {
  readonly url: string;
  readonly key: string;
  readonly history: History;
  readonly recordEffect: RecordEffect;
}

/** A device in this process that outlives the servers it is connected to, and resumes its session at the next one. */
export function startLoadDevice({ url, key, history, recordEffect }: LoadDeviceOptions): Device {
  /** What it returned, by request. */
  const results = new Map<string, string>();
  return connectDevice(url, {
    key,
    clientId: 'chaos-device',
    concurrency: 8,
    openTimeoutMs: DEVICE_PACE.openTimeoutMs,
    stableMs: DEVICE_PACE.stableMs,
    retry: { baseDelayMs: DEVICE_PACE.baseDelayMs, maxDelayMs: DEVICE_PACE.maxDelayMs },
    tools: [
      deviceTool<{ n: number; ms: number }>({
        name: DEVICE_TOOL,
        timeoutMs: TIMEOUT_MS,
        run: async (args, { id, attempt, signal }) => {
          recordEffect({ tool: DEVICE_TOOL, callId: callOf(id), attempt });
          await sleep(args.ms, undefined, { signal });
          const result = { ...args, id };
          results.set(id, JSON.stringify(result));
          return result;
        },
      }),
    ],
    onResult: ({ id, accepted }) => {
      const result = results.get(id);
      results.delete(id);
      if (accepted && result !== undefined) history.submissionsOf(callOf(id)).accepted.add(result);
    },
  });
}

/** The id of a request is that of the call and the attempt. */
function callOf(id: string): string {
  return id.split(':')[0] ?? '';
}
