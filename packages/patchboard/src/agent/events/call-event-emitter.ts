import type { Call } from '../../core/call/call.ts';
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

/** Emits the events of an agent's calls: one start, at most one decision and one end for each. */
export class CallEventEmitter {
  readonly #parts: CallEventEmitterParts;
  /** Calls whose start event was emitted, including before a restart; cleared when the model has all results. */
  readonly #started: Set<string>;
  readonly #ended: Set<string>;
  /** Calls that wait for approval. */
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

  /** The model has all results: no more events follow for these calls. */
  settled(): void {
    this.#started.clear();
    this.#ended.clear();
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
