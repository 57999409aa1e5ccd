import type { Ref } from 'vue';
import { keptList } from '../kept-list.ts';

/** One stored run of the sandbox. */
export interface PastRun {
  readonly callId: string;
  readonly tool: string;
  readonly args: string;
  readonly state: string;
  readonly durationMs: number | null;
  readonly at: string;
}

export interface SavedPayload {
  readonly name: string;
  readonly tool: string;
  readonly args: string;
}

const MAX_RUNS = 10;
const MAX_PAYLOADS = 50;

const isRecordWith =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'object' && value !== null && names.every((name) => name in value);

export const pastRuns: Ref<readonly PastRun[]> = keptList('patchboard.runs', isRecordWith('callId', 'args'));
export const payloads: Ref<readonly SavedPayload[]> = keptList(
  'patchboard.payloads',
  isRecordWith('name', 'args'),
);

export function rememberRun(run: PastRun): void {
  const others = pastRuns.value.filter(({ callId }) => callId !== run.callId);
  pastRuns.value = [run, ...others].slice(0, MAX_RUNS);
}

export function savePayload(payload: SavedPayload): void {
  const others = payloads.value.filter(({ name, tool }) => name !== payload.name || tool !== payload.tool);
  payloads.value = [payload, ...others].slice(0, MAX_PAYLOADS);
}

export function dropPayload({ name, tool }: SavedPayload): void {
  payloads.value = payloads.value.filter((other) => other.name !== name || other.tool !== tool);
}
