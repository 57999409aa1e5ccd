import { preview } from './preview.ts';
import type { ToolCallRecord } from './tool-call-record.ts';

/** A record as events carry it: without the input, but with something small to show of it. */
export type ToolCallSnapshot = Pick<
  ToolCallRecord,
  | 'id'
  | 'name'
  | 'state'
  | 'approval'
  | 'result'
  | 'error'
  | 'code'
  | 'isError'
  | 'durationMs'
  | 'startedAt'
  | 'completedAt'
  | 'auditTrail'
> & {
  /** The input, with long texts, lists and deep members cut. */
  readonly inputPreview: unknown;
};

export function toSnapshot(record: ToolCallRecord): ToolCallSnapshot {
  const { input, failure: _failure, createdAt: _createdAt, updatedAt: _updatedAt, ...kept } = record;
  return { ...kept, inputPreview: preview(input) };
}
