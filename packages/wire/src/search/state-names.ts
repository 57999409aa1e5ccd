import { CALL_STATES, isCallState, isTerminal, type CallStateName } from '../call-state.ts';

/** Names of several states. */
export const STATE_GROUPS: ReadonlyMap<string, readonly CallStateName[]> = new Map([
  ['open', CALL_STATES.filter((state) => !isTerminal(state))],
  ['waiting', CALL_STATES.filter((state) => !isTerminal(state) && state !== 'EXECUTING')],
  ['ended', CALL_STATES.filter(isTerminal)],
]);

/** No state of a call: requests that were refused made none. */
export const REFUSED = 'refused' as const;

/** The names of `state` that are no state of a call. */
export const STATE_GROUP_NAMES: readonly string[] = [...STATE_GROUPS.keys(), REFUSED];

/** Names that a query accepts beside the state's own: the labels of the console in its languages, names of statuses, spellings. */
const OTHER_NAMES: Readonly<Record<CallStateName | 'REFUSED', readonly string[]>> = {
  PENDING: ['queued', '排队中'],
  APPROVAL_REQUIRED: ['needs_approval', '待审批'],
  APPROVED: ['已批准'],
  EXECUTING: ['running', '执行中'],
  INPUT_REQUIRED: ['needs_input', '待输入'],
  COMPLETED: ['succeeded', '已完成'],
  FAILED: ['失败'],
  TIMED_OUT: ['timeout', '超时'],
  DENIED: ['已拒绝'],
  CANCELLED: ['canceled', '已取消'],
  SEALED: ['已封存'],
  REFUSED: ['被拒绝'],
};

/** Labels of calls whose approval expired. Their state is DENIED; a failure code tells them apart. */
const EXPIRED: readonly string[] = ['expired', '已过期'];

export const OTHER_STATE_NAMES: readonly string[] = Object.values(OTHER_NAMES).flat();

const BY_OTHER_NAME: ReadonlyMap<string, CallStateName> = new Map(
  CALL_STATES.flatMap((state) => OTHER_NAMES[state].map((name) => [name, state] as const)),
);

/** Returns the states of a name in any case, with spaces or hyphens for `_`: `failed`, `Timed out`, `running`, `open`. Null if there are none. */
export function statesNamed(text: string): readonly CallStateName[] | null {
  const name = plainName(text);
  const state = name.toUpperCase();
  if (isCallState(state)) return [state];
  const other = BY_OTHER_NAME.get(name);
  return other === undefined ? (STATE_GROUPS.get(name) ?? null) : [other];
}

export function isRefusedName(text: string): boolean {
  const name = plainName(text);
  return name === REFUSED || OTHER_NAMES.REFUSED.includes(name);
}

export function isExpiredName(text: string): boolean {
  return EXPIRED.includes(plainName(text));
}

function plainName(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
}
