import { WIRE_LIMITS } from '@patchboard/wire';

/** Everything the engine bounds. Resolved once at the edge; below that nothing is optional. */
export interface Limits {
  /** Calls of one agent run that execute in this server at once. */
  readonly concurrencyPerRun: number;
  /** Calls that execute in this server at once, whoever asks. */
  readonly concurrencyServer: number;
  /** Of these, the share one tenant may hold: its flood leaves room for others. */
  readonly concurrencyPerTenant: number;
  /** How long a call waits for a slot before it fails as `queue_timeout`. */
  readonly queueWaitMs: number;
  /** Calls of one tenant that have not ended. */
  readonly openCallsPerTenant: number;
  /** Upper bound on the argument bytes of one tenant's open calls, which are held in memory. */
  readonly openBytesPerTenant: number;
  /** The same for all tenants together. */
  readonly openBytesServer: number;
  readonly resultBytes: number;
  readonly clientTimeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly toolsPerClient: number;
  readonly toolsPerTenant: number;
  /** The specs of all tools that the clients of one tenant lend, as JSON. */
  readonly toolBytesPerTenant: number;
  readonly toolDescriptionBytes: number;
  readonly toolMetadataBytes: number;
  readonly approvalExpiryMs: number;
  readonly idempotencyMs: number;
  /** Attempts of an idempotent tool, the first included. */
  readonly maxAttempts: number;
  readonly retryBaseMs: number;
  /** A hook that takes longer has denied. */
  readonly hookTimeoutMs: number;
  /** The largest body of a request over HTTP. It holds a result of `resultBytes`. */
  readonly bodyBytes: number;
  /** The largest frame a device may send. It holds a result of `resultBytes`. */
  readonly frameBytes: number;
  /** How often a device is asked for a sign of life; it has three times as long to give one. */
  readonly deviceHeartbeatMs: number;
  /** How long the calls of a device that was cut off wait for it to come back. */
  readonly deviceGraceMs: number;
  /** What a device may leave unread before it is dropped. */
  readonly deviceBufferBytes: number;
  /** Frames of one device; one that sends more is read more slowly. */
  readonly deviceFramesPerSecond: number;
  readonly devicesPerTenant: number;
  /** From one network address, this machine's own apart. */
  readonly devicesPerAddress: number;
  /** Open streams of `/v1/events` and of calls' events. */
  readonly eventStreams: number;
  /** Of these, with one credential; local mode counts as one. */
  readonly eventStreamsPerCredential: number;
  /** What all of them leave unread together; beyond it the one with the most is dropped. */
  readonly eventStreamsUnreadBytes: number;
  /** How long a shutdown waits for running calls. */
  readonly drainMs: number;
}

export const DEFAULT_LIMITS: Limits = {
  concurrencyPerRun: 3,
  concurrencyServer: 64,
  concurrencyPerTenant: 48,
  queueWaitMs: 60_000,
  openCallsPerTenant: 10_000,
  openBytesPerTenant: 256 * 1024 * 1024,
  openBytesServer: 1024 * 1024 * 1024,
  resultBytes: WIRE_LIMITS.resultBytes,
  clientTimeoutMs: 30_000,
  maxTimeoutMs: 86_400_000,
  toolsPerClient: WIRE_LIMITS.toolsPerClient,
  toolsPerTenant: 10_000,
  toolBytesPerTenant: 16_777_216,
  toolDescriptionBytes: WIRE_LIMITS.toolDescriptionBytes,
  toolMetadataBytes: WIRE_LIMITS.toolMetadataBytes,
  approvalExpiryMs: 600_000,
  idempotencyMs: 86_400_000,
  maxAttempts: 3,
  retryBaseMs: 200,
  hookTimeoutMs: 5000,
  bodyBytes: WIRE_LIMITS.bodyBytes,
  frameBytes: WIRE_LIMITS.frameBytes,
  deviceHeartbeatMs: 5000,
  deviceGraceMs: 10_000,
  deviceBufferBytes: 4_194_304,
  deviceFramesPerSecond: 500,
  devicesPerTenant: 20_000,
  devicesPerAddress: 1000,
  eventStreams: 2000,
  eventStreamsPerCredential: 100,
  eventStreamsUnreadBytes: 64 * 1024 * 1024,
  drainMs: 10_000,
};

/** What carries results. Where they are not given, they grow with `resultBytes`. */
const CARRIERS = ['bodyBytes', 'frameBytes'] as const;

export function resolveLimits(given: Partial<Limits> = {}): Readonly<Limits> {
  const small = tooSmall(given);
  if (small !== null) throw new Error(`limits.${small.name} must be at least ${small.least}`);
  const least = leastCarrier(given);
  const carriers = Object.fromEntries(CARRIERS.map((name) => [name, Math.max(DEFAULT_LIMITS[name], least)]));
  return checkedLimits({ ...DEFAULT_LIMITS, ...carriers, ...given });
}

/** The first limit that a result of the allowed size would not fit into; null: there is none. */
export function tooSmall(
  given: Partial<Limits>,
): { readonly name: (typeof CARRIERS)[number]; readonly least: number } | null {
  const least = leastCarrier(given);
  const name = CARRIERS.find((carrier) => (given[carrier] ?? least) < least);
  return name === undefined ? null : { name, least };
}

function leastCarrier({ resultBytes = DEFAULT_LIMITS.resultBytes }: Partial<Limits>): number {
  return resultBytes + WIRE_LIMITS.envelopeBytes;
}

/**
 * Bytes of heap for each character of the arguments of open calls: they take a sixth of it at most, at two bytes for a
 * character where one is not Latin-1; and one tenant takes three quarters of that.
 */
const HEAP_PER_CHARACTER = 12;
const HEAP_PER_CHARACTER_OF_TENANT = 16;

/** The configured values are upper bounds: what is held in memory never exceeds what the heap has room for. */
export function withinHeap(limits: Readonly<Limits>, heapBytes: number): Readonly<Limits> {
  const [server, tenant] = [heapBytes / HEAP_PER_CHARACTER, heapBytes / HEAP_PER_CHARACTER_OF_TENANT];
  return checkedLimits({
    ...limits,
    openBytesServer: Math.min(limits.openBytesServer, Math.floor(server)),
    openBytesPerTenant: Math.min(limits.openBytesPerTenant, Math.floor(tenant)),
  });
}

/** Frozen. Throws where one is no limit. */
export function checkedLimits<Names extends string>(
  limits: Readonly<Record<Names, number>>,
): Readonly<Record<Names, number>> {
  for (const [name, value] of Object.entries<number>(limits)) {
    if (!Number.isSafeInteger(value) || value <= 0)
      throw new Error(`limits.${name} must be a positive whole number`);
  }
  return Object.freeze(limits);
}
