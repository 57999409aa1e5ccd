/** What a device of the chaos tests is told when it starts. */
export interface DeviceWorkerOptions {
  readonly url: string;
  readonly tool: string;
  readonly timeoutMs: number;
  readonly effectsFile: string;
  readonly outboxFile: string;
}

/** How fast it comes back: faster than devices do in life, or a thousand loops would take a day. */
export const DEVICE_PACE = { openTimeoutMs: 500, stableMs: 200, baseDelayMs: 20, maxDelayMs: 200 } as const;
