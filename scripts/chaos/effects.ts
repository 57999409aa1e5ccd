import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import process from 'node:process';

/** One line of the effects file: an attempt of a call was executed. */
export interface Effect {
  readonly tool: string;
  readonly callId: string;
  readonly attempt: number;
  readonly args?: unknown;
  /** The process that executed it. */
  readonly pid?: number;
}

/** Records an execution outside of the server and its store. */
export type RecordEffect = (effect: Effect) => void;

/** Data written to the kernel survives the process; only a power loss would lose it. */
export function effectsIn(file: string): RecordEffect {
  return (effect) => appendFileSync(file, `${JSON.stringify({ ...effect, pid: process.pid })}\n`);
}

export function readEffects(file: string): Effect[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Effect);
}
