import { reason } from '@patchboard/wire';
import { explain } from '../explanation.ts';
import type { Admission } from './admission.ts';
import type { Call } from '../call/call.ts';
import type { CallOrigin } from '../call/call-origin.ts';
import { canonicalJson } from '@patchboard/wire/json';
import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../ports.ts';
import type { Principal } from '../access/principal.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';

interface CachedResult {
  readonly resultJson: string;
  readonly callId: string;
  /** Monotonic time. */
  readonly at: number;
}

/** Capacity of the cache; the least recently used result is evicted first. */
const MAX_CHARACTERS = 16_777_216;

/**
 * LRU cache of the results of read-only tools that declare `cacheTtlMs`. A call with a cached result is admitted and
 * recorded like any other; only the tool does not run.
 */
export class ResponseCache {
  readonly #clock: Clock;
  readonly #results: BoundedMap<string, CachedResult> = new BoundedMap(
    MAX_CHARACTERS,
    (key, { resultJson }) => key.length + resultJson.length,
  );
  /** Cache key for the result of each running call, by call id. */
  readonly #expected: Map<string, string> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the admission with the cached result, if there is a fresh one; otherwise with the key to store the result
   * under.
   */
  lookUp(
    tool: RegisteredTool,
    scope: { readonly principal: Principal; readonly origin: CallOrigin | null },
    admission: Admission,
  ): Admission {
    const ttlMs = tool.cacheTtlMs;
    if (ttlMs === null || admission.decision.effect !== 'allow' || admission.suppliedResult !== null)
      return admission;
    const { tenant, agentId } = scope.principal;
    // Includes the agent, because hooks may have changed the result for that agent.
    const prefix = [tenant, scope.origin?.siteId ?? null, agentId, tool.version];
    const cacheKey = `${JSON.stringify(prefix)}\n${canonicalJson(admission.args)}`;
    const cached = this.#fresh(cacheKey, ttlMs);
    if (cached === undefined) return { ...admission, cacheKey };
    const cachedAgeMs = Math.round(this.#clock.elapsed() - cached.at);
    const { decision } = admission;
    return {
      ...admission,
      decision: {
        ...decision,
        rule: 'cache',
        ...explain(
          reason('result_cached', { call: cached.callId, age_ms: cachedAgeMs, rule: decision.rule }),
        ),
      },
      suppliedResult: { result: JSON.parse(cached.resultJson) as unknown },
      cachedAgeMs,
    };
  }

  /** Registers a recorded call whose result is to be cached. */
  expect(callId: string, cacheKey: string | undefined): void {
    if (cacheKey !== undefined) this.#expected.set(callId, cacheKey);
  }

  /** Called with every ended call; stores the result of an expected one. */
  ended({ id, state, inputs }: Call): void {
    const key = this.#expected.get(id);
    if (key === undefined) return;
    this.#expected.delete(id);
    // What the caller gave is not part of the key.
    if (state.name !== 'COMPLETED' || inputs.length > 0) return;
    this.#results.set(key, { resultJson: state.resultJson, callId: id, at: this.#clock.elapsed() });
  }

  /** Called with a call whose row is gone from the store: it will have no result. */
  dropped({ id }: Call): void {
    this.#expected.delete(id);
  }

  #fresh(key: string, ttlMs: number): CachedResult | undefined {
    const cached = this.#results.use(key);
    if (cached === undefined || this.#clock.elapsed() - cached.at < ttlMs) return cached;
    this.#results.delete(key);
    return undefined;
  }
}
