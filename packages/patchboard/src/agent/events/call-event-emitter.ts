import type { Call } from '../../core/call/call.ts';
import { toRecord, type ToolCallRecord } from '../../sdk/tool-call-record.ts';
import { toSnapshot, type ToolCallSnapshot } from '../../sdk/tool-call-snapshot.ts';
import { truncateForModel } from '../../sdk/tool-result.ts';
import type { AgentHost } from '../agent-host.ts';
import type { EventLog } from './event-log.ts';

export interface CallEventEmitterParts {
  readonly host: Pick<AgentHost, 'redact'>;
  readonly events: EventLog;
  readonly maxResultBytes: number;
  readonly onWaiting: (isWaiting: boolean) => void;
  /** Of an agent that was resumed. */
  readonly started: Iterable<string>;
  readonly ended: Iterable<string>;
  readonly asked: Iterable<string>;
}

/** Tells of an agent's calls: each starts once, is decided on once at most, and ends once. */
export class CallEventEmitter {
  readonly #parts: CallEventEmitterParts;
  /** Calls that were told of as started, before a restart too; until the model has its answers. */
  readonly #started: Set<string>;
  readonly #ended: Set<string>;
  /** Calls that were asked about and not decided on yet. */
  readonly #asked: Set<string>;

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
    this.#parts.onWaiting(this.#asked.size > 0);
  }

  /** Somebody decided, here or over the network. */
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
    this.#parts.onWaiting(this.#asked.size > 0);
  }

  ended(call: Call, record: ToolCallRecord): void {
    if (this.#ended.has(call.id)) return;
    this.#ended.add(call.id);
    this.decided(call);
    if (this.#asked.delete(call.id)) this.#parts.onWaiting(this.#asked.size > 0);
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

  /** The model has its answers: nobody will tell of these calls again. */
  settled(): void {
    for (const told of [this.#started, this.#ended]) told.clear();
  }

  /** Events are kept: without what is not to be kept, and with no more of a result than a model gets. */
  #snapshot(record: ToolCallRecord): ToolCallSnapshot {
    const { host, maxResultBytes } = this.#parts;
    const input = host.redact(record.input);
    if (!('result' in record)) return toSnapshot({ ...record, input });
    return toSnapshot({
      ...record,
      input,
      result: truncateForModel(record.result, record.id, maxResultBytes),
    });
  }
}
