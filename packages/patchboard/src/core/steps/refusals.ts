import type { Principal } from '../access/principal.ts';
import type { RateLimits } from '../access/rate-limits.ts';
import type { Call } from '../call/call.ts';
import type { CallRequest } from '../call/call-request.ts';
import { failed } from '../call/outcome.ts';
import type { Failure } from '../failures.ts';
import { refusedRow, type RefusedCall } from '../ledger/ledger.ts';
import type { Clock, Digest, Store } from '../ports.ts';
import type { ToolIndex } from '../tools/tool-index.ts';
import type { Recorder } from './record-call.ts';

export interface RefusalsParts {
  readonly store: Store;
  readonly toolIndex: ToolIndex;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly rates: RateLimits;
  readonly isDraining: () => boolean;
  /** Called with each refusal that has a ledger row. */
  readonly refused: (refused: RefusedCall) => void;
}

/** Records refused requests, which create no call. */
export class Refusals {
  readonly #parts: RefusalsParts;

  constructor(parts: RefusalsParts) {
    this.#parts = parts;
  }

  /**
   * Records the refusal: as a FAILED call, which it returns, if the caller has `keepsRefused`; otherwise as one ledger
   * row, except during a flood of refusals.
   */
  async record(request: CallRequest, principal: Principal, refused: Failure): Promise<Call | null> {
    const { toolIndex, recorder, rates, isDraining } = this.#parts;
    // A model must get a recorded result for each request, unless the server is shutting down.
    if (request.caller?.keepsRefused === true && !isDraining()) {
      const tool = toolIndex.find(principal.tenant, request.toolName);
      const call = await recorder.recordEnded(request, principal, tool, failed(refused));
      if (call !== null) return call;
    }
    const unrecorded = refused.code === 'rate_limited' ? rates.refusal(principal) : 0;
    if (unrecorded !== null) await this.#append(request, principal, refused, unrecorded);
    return null;
  }

  async #append(
    request: CallRequest,
    { tenant, agentId }: Principal,
    { code, message }: Failure,
    unrecorded: number,
  ): Promise<void> {
    const { toolName, traceId = null, origin = null } = request;
    const argsHash = this.#parts.digest.sha256(JSON.stringify(request.args) ?? 'null');
    const refused = { tenant, toolName, agentId, traceId, origin, code, message, argsHash, unrecorded };
    await this.#parts.store.append([refusedRow(refused, this.#parts.clock.now())]);
    this.#parts.refused(refused);
  }
}
