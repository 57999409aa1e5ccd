import type { SQLOutputValue } from 'node:sqlite';
import type { Run } from '../../core/ports.ts';

export type Row = Record<string, SQLOutputValue>;

export function toRun(row: Row): Run {
  return {
    id: text(row, 'id'),
    tenant: text(row, 'tenant'),
    agentId: text(row, 'agent_id'),
    createdAt: integer(row, 'created_at'),
    cancelledAt: row['cancelled_at'] === null ? null : integer(row, 'cancelled_at'),
  };
}

export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new Error(`column ${column} holds no text`);
  return value;
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

export function integer(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new Error(`column ${column} holds no number`);
  return value;
}
