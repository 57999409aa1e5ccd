/** What the SDK requires of the runtime. The types contain only what is used, so that any fetch implementation fits. */

export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** Missing if fetch cannot stream, as in plain React Native. */
  readonly body?: { getReader(): BodyReader } | null;
  text(): Promise<string>;
}

export type FetchLike = (url: string, init: FetchInit) => Promise<FetchResponse>;

export interface ClientClock {
  /** Milliseconds since an arbitrary origin; should be monotonic. */
  now(): number;
  /** Runs `action` once after `ms`. Returns a function that cancels it. */
  after(ms: number, action: () => void): () => void;
}

export interface Runtime {
  readonly fetch: FetchLike;
  readonly clock: ClientClock;
  /** At least 0, below 1. */
  readonly random: () => number;
  /** Returns a globally unique id. */
  readonly newId: () => string;
}

const systemClock: ClientClock = {
  now: () => globalThis.performance?.now() ?? Date.now(),
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};

export function resolveRuntime(given: {
  readonly fetch?: FetchLike;
  readonly clock?: ClientClock;
  readonly random?: () => number;
}): Runtime {
  const random = given.random ?? Math.random;
  if (given.fetch === undefined && typeof globalThis.fetch !== 'function') {
    throw new TypeError('pass options.fetch: this runtime has no fetch of its own');
  }
  return {
    // Called as a method of globalThis: browsers refuse a detached fetch.
    fetch: given.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    clock: given.clock ?? systemClock,
    random,
    newId: () => uniqueId(random),
  };
}

/** `randomUUID` exists only in secure contexts, and React Native may have no `crypto` at all. */
function uniqueId(random: () => number): string {
  const crypto = globalThis.crypto as Partial<Crypto> | undefined;
  if (typeof crypto?.randomUUID === 'function') return crypto.randomUUID();
  const bytes = new Uint8Array(16);
  if (typeof crypto?.getRandomValues === 'function') crypto.getRandomValues(bytes);
  else for (let index = 0; index < bytes.length; index++) bytes[index] = Math.floor(random() * 256);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${Date.now().toString(36)}-${hex}`;
}
