import { WIRE_LIMITS } from '@patchboard/wire';

/** The limits of the engine, with all defaults resolved. */
export interface Limits {
  /** Calls of one agent run that execute in this server at once. */
  readonly concurrencyPerRun: number;
  /** Calls that execute in this server at once, of all tenants. */
  readonly concurrencyServer: number;
  /** The same for one tenant, so that it leaves slots for others. */
  readonly concurrencyPerTenant: number;
  /** How long a call waits for a slot before it fails as `queue_timeout`. */
  readonly queueWaitMs: number;
  /** Open calls of one tenant. */
  readonly openCallsPerTenant: number;
  /** Upper bound on the argument bytes of one tenant's open calls, which are held in memory. */
  readonly openBytesPerTenant: number;
  /** The same for all tenants together. */
  readonly openBytesServer: number;
  readonly resultBytes: number;
  /**
   * The same for a result with content of a tool that runs in this process or at an upstream; not below `resultBytes`. A
   * client's result with content is held to `resultBytes`.
   */
  readonly contentBytes: number;
  readonly clientTimeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly toolsPerClient: number;
  readonly toolsPerTenant: number;
  /** JSON size of the specs of all client tools of one tenant. */
  readonly toolBytesPerTenant: number;
  readonly toolDescriptionBytes: number;
  readonly toolMetadataBytes: number;
  /** Contents of one resource, or messages of one prompt. */
  readonly resourceBytes: number;
  /** How long a pack may take to return a resource, a prompt or a completion. */
  readonly resourceTimeoutMs: number;
  /** Resources, resource templates and prompts of one pack. */
  readonly resourcesPerPack: number;
  readonly approvalExpiryMs: number;
  /** How long an input request waits for the caller. */
  readonly inputExpiryMs: number;
  readonly idempotencyMs: number;
  /** Attempts of an idempotent tool, the first included. */
  readonly maxAttempts: number;
  readonly retryBaseMs: number;
  /** A hook that takes longer counts as a deny. */
  readonly hookTimeoutMs: number;
  /** The largest body of a request over HTTP. It holds a result of `resultBytes`. */
  readonly bodyBytes: number;
  /** The largest frame a device may send. It holds a result of `resultBytes`. */
  readonly frameBytes: number;
  /**
   * Interval of pings to a device. A device that has sent nothing for two intervals is disconnected at the next ping,
   * so within three.
   */
  readonly deviceHeartbeatMs: number;
  /** How long the calls of a disconnected device wait for it to reconnect. */
  readonly deviceGraceMs: number;
  /** Unread bytes in a device's send buffer above which it is disconnected. */
  readonly deviceBufferBytes: number;
  /** Frames per second of one device; reading is slowed down above it (back-pressure). */
  readonly deviceFramesPerSecond: number;
  readonly devicesPerTenant: number;
  /** Devices from one network address. Loopback addresses are not limited. */
  readonly devicesPerAddress: number;
  /** Open streams of `/v1/events` and of calls' events. */
  readonly eventStreams: number;
  /** Event streams with one credential. Local mode counts as one credential. */
  readonly eventStreamsPerCredential: number;
  /** Unread bytes of all event streams together. Above it the stream with the most is closed. */
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
  contentBytes: WIRE_LIMITS.contentBytes,
  clientTimeoutMs: 30_000,
  maxTimeoutMs: 86_400_000,
  toolsPerClient: WIRE_LIMITS.toolsPerClient,
  toolsPerTenant: 10_000,
  toolBytesPerTenant: 16_777_216,
  toolDescriptionBytes: WIRE_LIMITS.toolDescriptionBytes,
  toolMetadataBytes: WIRE_LIMITS.toolMetadataBytes,
  resourceBytes: 4_194_304,
  resourceTimeoutMs: 10_000,
  resourcesPerPack: 10_000,
  approvalExpiryMs: 600_000,
  inputExpiryMs: 600_000,
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

/** Limits on messages that contain a result. Their defaults grow with `resultBytes`. */
const CARRIERS = ['bodyBytes', 'frameBytes'] as const;

export function resolveLimits(given: Partial<Limits> = {}): Readonly<Limits> {
  const small = tooSmall(given);
  if (small !== null) throw new Error(`limits.${small.name} must be at least ${small.least}`);
  const least = leastCarrier(given);
  const carriers = Object.fromEntries(CARRIERS.map((name) => [name, Math.max(DEFAULT_LIMITS[name], least)]));
  return checkedLimits({ ...DEFAULT_LIMITS, ...carriers, ...given });
}

/** Returns the first limit that is too small for a result of `resultBytes`; null if there is none. */
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
 * Heap bytes required per character of the arguments of open calls. A character takes up to two bytes, so that all
 * arguments take at most a sixth of the heap, and those of one tenant three quarters of that.
 */
const HEAP_PER_CHARACTER = 12;
const HEAP_PER_CHARACTER_OF_TENANT = 16;

/** Lowers the limits on data that is held in memory to what fits into the heap. */
export function withinHeap(limits: Readonly<Limits>, heapBytes: number): Readonly<Limits> {
  const [server, tenant] = [heapBytes / HEAP_PER_CHARACTER, heapBytes / HEAP_PER_CHARACTER_OF_TENANT];
  return checkedLimits({
    ...limits,
    openBytesServer: Math.min(limits.openBytesServer, Math.floor(server)),
    openBytesPerTenant: Math.min(limits.openBytesPerTenant, Math.floor(tenant)),
  });
}

/** Freezes the limits. Throws if one is not a positive integer. */
export function checkedLimits<Names extends string>(
  limits: Readonly<Record<Names, number>>,
): Readonly<Record<Names, number>> {
  for (const [name, value] of Object.entries<number>(limits)) {
    if (!Number.isSafeInteger(value) || value <= 0)
      throw new Error(`limits.${name} must be a positive whole number`);
  }
  return Object.freeze(limits);
}
