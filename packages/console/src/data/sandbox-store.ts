import { ref, watch, type Ref } from 'vue';

/** One run of the sandbox, as it is remembered. */
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

/** Kept in this browser. What cannot be read is as good as nothing. */
function kept<T>(key: string, isOne: (value: object) => boolean): Ref<readonly T[]> {
  let rows: unknown = [];
  try {
    rows = JSON.parse(localStorage.getItem(key) ?? '[]');
  } catch {
    rows = [];
  }
  const list = Array.isArray(rows)
    ? rows.filter((row): row is T => typeof row === 'object' && row !== null && isOne(row))
    : [];
  const store = ref(list) as Ref<readonly T[]>;
  watch(store, (now) => localStorage.setItem(key, JSON.stringify(now)));
  return store;
}

export const pastRuns: Ref<readonly PastRun[]> = kept(
  'patchboard.runs',
  (row) => 'callId' in row && 'args' in row,
);
export const payloads: Ref<readonly SavedPayload[]> = kept(
  'patchboard.payloads',
  (row) => 'name' in row && 'args' in row,
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
