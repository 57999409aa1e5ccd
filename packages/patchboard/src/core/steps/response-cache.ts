import { reason } from '@patchboard/wire';
import { because } from '../because.ts';
import type { Admission } from './admission.ts';
import type { Call } from '../call/call.ts';
import type { CallOrigin } from '../call/call-origin.ts';
import { canonicalJson } from '../json/canonical-json.ts';
import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../ports.ts';
import type { Principal } from '../access/principal.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';

interface Kept {
  readonly resultJson: string;
  readonly callId: string;
  /** Monotonic. */
  readonly at: number;
}

/** Enough for the questions that are asked all day; beyond it, the answer used longest ago goes. */
const MAX_CHARACTERS = 16_777_216;

/**
 * Results of tools that only read and say for how long a result may be given again. An answer from here is a call like
 * any other: admitted, recorded, in the ledger; only the tool is not run.
 */
export class ResponseCache {
  readonly #clock: Clock;
  readonly #kept: BoundedMap<string, Kept> = new BoundedMap(
    MAX_CHARACTERS,
    (key, { resultJson }) => key.length + resultJson.length,
  );
  /** Calls that run now, and under what their result will be kept. */
  readonly #expected: Map<string, string> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The admission with the result at hand, if there is one that is fresh; else with the key to keep the next under. */
  answer(
    tool: RegisteredTool,
    asked: { readonly principal: Principal; readonly origin: CallOrigin | null },
    admission: Admission,
  ): Admission {
    const ttlMs = tool.cacheTtlMs;
    if (ttlMs === null || admission.decision.effect !== 'allow' || admission.atHand !== null)
      return admission;
    const { tenant, agentId } = asked.principal;
    // By agent too: hooks may have shaped a result for the one who asked.
    const whose = [tenant, asked.origin?.siteId ?? null, agentId, tool.version];
    const cacheKey = `${JSON.stringify(whose)}\n${canonicalJson(admission.args)}`;
    const kept = this.#fresh(cacheKey, ttlMs);
    if (kept === undefined) return { ...admission, cacheKey };
    const cachedAgeMs = Math.round(this.#clock.elapsed() - kept.at);
    const { decision } = admission;
    return {
      ...admission,
      decision: {
        ...decision,
        rule: 'cache',
        ...because(reason('result_cached', { call: kept.callId, age_ms: cachedAgeMs, rule: decision.rule })),
      },
      atHand: { result: JSON.parse(kept.resultJson) as unknown },
      cachedAgeMs,
    };
  }

  /** The call is recorded and will run. */
  expect(callId: string, cacheKey: string | undefined): void {
    if (cacheKey !== undefined) this.#expected.set(callId, cacheKey);
  }

  /** Told of every ending; most are of no interest. */
  ended({ id, state }: Call): void {
    const key = this.#expected.get(id);
    if (key === undefined) return;
    this.#expected.delete(id);
    if (state.name !== 'COMPLETED') return;
    this.#kept.set(key, { resultJson: state.resultJson, callId: id, at: this.#clock.elapsed() });
  }

  /** The call is stored no more: it has no result. */
  dropped({ id }: Call): void {
    this.#expected.delete(id);
  }

  #fresh(key: string, ttlMs: number): Kept | undefined {
    const kept = this.#kept.use(key);
    if (kept === undefined || this.#clock.elapsed() - kept.at < ttlMs) return kept;
    this.#kept.delete(key);
    return undefined;
  }
}
