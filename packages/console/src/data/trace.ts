import type { LedgerRowView } from '@patchboard/wire';
import { shownState } from './shown-state.ts';

/** One call of a trace, from ledger rows. */
export interface TraceCall {
  readonly id: string;
  readonly tool: string;
  readonly state: string;
  readonly startMs: number;
  readonly lengthMs: number;
  /** Fractions of the whole trace. */
  readonly left: number;
  readonly width: number;
}

/** The calls of the rows in order of their start, on one time scale. */
export function traceCalls(rows: readonly LedgerRowView[]): readonly TraceCall[] {
  const byCall = new Map<string, LedgerRowView[]>();
  for (const row of rows) {
    if (row.tool_call_id === null) continue;
    byCall.set(row.tool_call_id, [...(byCall.get(row.tool_call_id) ?? []), row]);
  }
  const times = rows.map(({ at }) => Date.parse(at));
  const start = Math.min(...times);
  const whole = Math.max(Math.max(...times) - start, 1);
  return [...byCall].map(([id, own]) => {
    const from = Math.min(...own.map(({ at }) => Date.parse(at)));
    const lengthMs = Math.max(...own.map(({ at }) => Date.parse(at))) - from;
    const last = [...own]
      .reverse()
      .map(({ body }) => shownState(wordOf(body, 'state'), wordOf(body, 'code')))
      .find((state) => state !== '');
    return {
      id,
      tool:
        own
          .map(({ body }) => wordOf(body, 'tool_name') || wordOf(body, 'tool'))
          .find((tool) => tool !== '') ?? '',
      state: last ?? '',
      startMs: from - start,
      lengthMs,
      left: (from - start) / whole,
      width: lengthMs / whole,
    };
  });
}

function wordOf(body: unknown, name: string): string {
  if (typeof body !== 'object' || body === null) return '';
  const value = (body as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : '';
}
