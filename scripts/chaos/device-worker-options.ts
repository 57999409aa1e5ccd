/** Start options of a chaos device. */
export interface DeviceWorkerOptions {
  readonly url: string;
  readonly tool: string;
  readonly timeoutMs: number;
  readonly effectsFile: string;
  readonly outboxFile: string;
}

/** Reconnect delays, shorter than the defaults: otherwise a thousand loops would take a day. */
export const DEVICE_PACE = { openTimeoutMs: 500, stableMs: 200, baseDelayMs: 20, maxDelayMs: 200 } as const;
