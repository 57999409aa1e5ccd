import { preview } from './preview.ts';
import type { ToolCallRecord } from './tool-call-record.ts';

/** The part of a record that events carry, with a preview instead of the input. */
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
  /** The input, with long texts, lists and deep members truncated. */
  readonly inputPreview: unknown;
};

export function toSnapshot(record: ToolCallRecord): ToolCallSnapshot {
  const {
    input,
    failure: _failure,
    createdAt: _createdAt,
    updatedAt: _updatedAt,
    inputRequest: _inputRequest,
    inputs: _inputs,
    ...rest
  } = record;
  return { ...rest, inputPreview: preview(input) };
}
