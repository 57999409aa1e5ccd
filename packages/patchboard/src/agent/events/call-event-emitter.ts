import type { Call } from '../../core/call/call.ts';
import { pendingInputs } from '../../sdk/tool-call-input.ts';
import { toRecord, type ToolCallRecord } from '../../sdk/tool-call-record.ts';
import { toSnapshot, type ToolCallSnapshot } from '../../sdk/tool-call-snapshot.ts';
import { truncateForModel } from '../../sdk/tool-result.ts';
import { namedPictures } from '../memory/stored-pictures.ts';
import type { AgentHost } from '../agent-host.ts';
import type { EventLog } from './event-log.ts';

export interface CallEventEmitterParts {
  readonly host: Pick<AgentHost, 'redact'>;
  readonly events: EventLog;
  readonly maxResultBytes: number;
  readonly onWaiting: (isWaiting: boolean) => void;
  /** Call ids for which a resumed agent has already emitted these events. */
  readonly started: Iterable<string>;
  readonly ended: Iterable<string>;
  readonly asked: Iterable<string>;
}

/** Emits the events of an agent's calls: one start, at most one decision, its input requests, and one end for each. */
export class CallEventEmitter {
  readonly #parts: CallEventEmitterParts;
  /** Calls whose start event was emitted, including before a restart; cleared when the model has all results. */
  readonly #started: Set<string>;
  readonly #ended: Set<string>;
  /** Calls that wait for approval. */
  readonly #asked: Set<string>;
  /** Ids of the input requests that wait, by call. A resumed agent emits them again: its listeners are new. */
  readonly #inputs: Map<string, Set<string>> = new Map();

  constructor(parts: CallEventEmitterParts) {
    this.#parts = parts;
    this.#started = new Set(parts.started);
    this.#ended = new Set(parts.ended);
    this.#asked = new Set(parts.asked);
  }

  began(call: Call): void {
    const snapshot = this.#snapshot(toRecord(call));
    if (!this.#started.has(call.id)) {
      this.#started.add(call.id);
      this.#parts.events.emit({ channel: 'progress', type: 'tool:start', call: snapshot });
    }
    if (call.state.name === 'APPROVAL_REQUIRED' && !this.#asked.has(call.id)) {
      this.#asked.add(call.id);
      this.#parts.events.emit({ channel: 'control', type: 'permission_required', call: snapshot });
    }
    this.inputGiven(call);
    this.inputRequired(call);
    this.#report();
  }

  /** The call may wait for input from its caller. */
  inputRequired(call: Call): void {
    const requests = pendingInputs(call);
    if (requests.length === 0) return;
    const emitted = this.#inputs.get(call.id) ?? new Set();
    this.#inputs.set(call.id, emitted);
    const snapshot = this.#snapshot(toRecord(call));
    for (const { callId: _callId, toolName: _toolName, ...request } of requests) {
      if (emitted.has(request.id)) continue;
      emitted.add(request.id);
      this.#parts.events.emit({ channel: 'control', type: 'input_required', call: snapshot, request });
    }
    this.#report();
  }

  /** A request of the call may have its response, given in this process or over the network. */
  inputGiven({ id: callId, inputs }: Call): void {
    const waiting = this.#inputs.get(callId);
    if (waiting === undefined) return;
    for (const { id: requestId, response } of inputs) {
      if (response === null || !waiting.delete(requestId)) continue;
      const { action } = response;
      this.#parts.events.emit({ channel: 'control', type: 'input_given', callId, requestId, action });
    }
    if (waiting.size === 0) this.#inputs.delete(callId);
    this.#report();
  }

  /** The call was decided, in this process or over the network. */
  decided({ id: callId, approval }: Call): void {
    if (approval === null || approval.decision === null || !this.#asked.delete(callId)) return;
    const { decision, decidedBy, note } = approval;
    this.#parts.events.emit({
      channel: 'control',
      type: 'permission_decided',
      callId,
      decision,
      decidedBy: decidedBy ?? '',
      ...(note === null ? {} : { note }),
    });
    this.#report();
  }

  ended(call: Call, record: ToolCallRecord): void {
    if (this.#ended.has(call.id)) return;
    this.#ended.add(call.id);
    this.decided(call);
    this.inputGiven(call);
    const [wasAsked, wasWaiting] = [this.#asked.delete(call.id), this.#inputs.delete(call.id)];
    if (wasAsked || wasWaiting) this.#report();
    const snapshot = this.#snapshot(record);
    if (record.isError)
      this.#parts.events.emit({
        channel: 'progress',
        type: 'tool:error',
        call: snapshot,
        error: record.error ?? '',
      });
    this.#parts.events.emit({ channel: 'progress', type: 'tool:end', call: snapshot });
    if (record.startedAt !== undefined)
      this.#parts.events.emit({ channel: 'monitor', type: 'tool_executed', call: snapshot });
  }

  /** The model has all results: no more events follow for these calls. */
  settled(): void {
    this.#started.clear();
    this.#ended.clear();
  }

  #report(): void {
    this.#parts.onWaiting(this.#asked.size > 0 || this.#inputs.size > 0);
  }

  /** Events are stored, so the input is redacted, and the result truncated as for the model and without pictures. */
  #snapshot(record: ToolCallRecord): ToolCallSnapshot {
    const { host, maxResultBytes } = this.#parts;
    const input = host.redact(record.input);
    if (!('result' in record)) return toSnapshot({ ...record, input });
    return toSnapshot({
      ...record,
      input,
      result: namedPictures(truncateForModel(record.result, record.id, maxResultBytes)),
    });
  }
}
