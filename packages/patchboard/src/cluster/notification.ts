import { isRecord } from '@patchboard/wire/json';
import { utf8Bytes } from '../core/json/utf8-bytes.ts';

/** What a node sends to other nodes of its store: ids, counts and events that are not stored, never a secret. */
export type Notification =
  /** Calls that the sender moved to these versions while another node held them. */
  | { readonly kind: 'moved'; readonly calls: readonly CallVersion[] }
  /** Calls that ended with these versions: a node with waiters reads them. */
  | { readonly kind: 'ended'; readonly calls: readonly CallVersion[] }
  /** The ledger has new rows. */
  | { readonly kind: 'grown' }
  /** A call waits for its client: a node that holds a connection of the client may take it from this version. */
  | {
      readonly kind: 'wake_client';
      readonly tenant: string;
      readonly client: string;
      readonly call: string;
      readonly version: number;
    }
  /** Documents or tools changed; `revision` is the newest. */
  | { readonly kind: 'config'; readonly revision: number }
  /** Calls are offered to nodes with room. */
  | { readonly kind: 'work' }
  /** Tokens that the sender took from rate limits, by bucket. */
  | { readonly kind: 'rates'; readonly spent: readonly Spent[] }
  /** An event that is not stored, such as progress. `event` is JSON. */
  | { readonly kind: 'transient'; readonly tenant: string; readonly event: unknown }
  /** A message of one service to the same service of the receiver. `body` is JSON. */
  | { readonly kind: 'signal'; readonly topic: string; readonly body: unknown }
  /** The session of a device continues at the sender: the node that had it closes its connection. */
  | { readonly kind: 'session_taken'; readonly session: string }
  /** A run was cancelled: nodes with a workspace of it end its background jobs. */
  | { readonly kind: 'run_cancelled'; readonly tenant: string; readonly run: string }
  /** The sender has given calls to the receiver. */
  | { readonly kind: 'given' }
  /** The sender shuts down, and may have given calls to the receiver. */
  | { readonly kind: 'leaving' };

type CallVersion = readonly [id: string, version: number];
type Spent = readonly [bucket: string, tokens: number];

/** An encoded notification is shorter than this: the limit of NOTIFY. */
export const NOTIFICATION_BYTES = 8000;

/** `ignored`: of a kind that only later versions know. `invalid`: not written by a node. */
export type Decoded =
  | { readonly is: 'valid'; readonly notification: Notification; readonly from: number }
  | { readonly is: 'ignored' }
  | { readonly is: 'invalid'; readonly problem: string };

/** Returns one text, or several if a list is too long for one. Omits an entry that is too long for a text of its own. */
export function encodeNotification(from: number, notification: Notification): readonly string[] {
  switch (notification.kind) {
    case 'moved':
    case 'ended':
      return split(from, notification.kind, 'calls', notification.calls);
    case 'rates':
      return split(from, notification.kind, 'spent', notification.spent);
    default: {
      const text = JSON.stringify({ from, ...notification });
      return utf8Bytes(text) < NOTIFICATION_BYTES ? [text] : [];
    }
  }
}

function split(from: number, kind: string, key: string, items: readonly unknown[]): readonly string[] {
  const head = `${JSON.stringify({ from, kind }).slice(0, -1)},"${key}":[`;
  const tail = ']}';
  const most = NOTIFICATION_BYTES - 1 - utf8Bytes(head) - tail.length;
  const texts: string[] = [];
  let body = '';
  let bytes = 0;
  for (const item of items) {
    const text = JSON.stringify(item);
    const added = utf8Bytes(text);
    if (added > most) continue;
    if (body !== '' && bytes + 1 + added > most) {
      texts.push(head + body + tail);
      body = '';
      bytes = 0;
    }
    bytes += added + (body === '' ? 0 : 1);
    body += body === '' ? text : `,${text}`;
  }
  if (body !== '') texts.push(head + body + tail);
  return texts;
}

export function decodeNotification(text: string): Decoded {
  if (text.length >= NOTIFICATION_BYTES) return invalid(`longer than ${NOTIFICATION_BYTES - 1} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid('not JSON');
  }
  if (!isRecord(value)) return invalid('not an object');
  const { from, kind } = value;
  if (!isCount(from)) return invalid('"from" is not the number of a writer');
  if (typeof kind !== 'string') return invalid('"kind" is not a string');
  const notification = notificationOf(kind, value);
  if (notification === undefined) return { is: 'ignored' };
  if (notification === null) return invalid(`the members of "${kind}" are not of its types`);
  return { is: 'valid', notification, from };
}

/** Undefined: the kind is unknown. Null: a member has the wrong type. Members of later versions are left out. */
function notificationOf(
  kind: string,
  value: Readonly<Record<string, unknown>>,
): Notification | null | undefined {
  switch (kind) {
    case 'grown':
    case 'work':
    case 'given':
    case 'leaving':
      return { kind };
    case 'moved':
    case 'ended': {
      const { calls } = value;
      return isListOf(calls, isCount) ? { kind, calls } : null;
    }
    case 'rates': {
      const { spent } = value;
      return isListOf(spent, isTokens) ? { kind, spent } : null;
    }
    case 'wake_client': {
      const { tenant, client, call, version } = value;
      if (!isName(tenant) || !isName(client) || !isName(call) || !isCount(version)) return null;
      return { kind, tenant, client, call, version };
    }
    case 'session_taken':
      return isName(value['session']) ? { kind, session: value['session'] } : null;
    case 'run_cancelled': {
      const { tenant, run } = value;
      return isName(tenant) && isName(run) ? { kind, tenant, run } : null;
    }
    case 'config':
      return isCount(value['revision']) ? { kind, revision: value['revision'] } : null;
    case 'signal': {
      const { topic, body } = value;
      return isName(topic) && body !== undefined ? { kind, topic, body } : null;
    }
    case 'transient': {
      const { tenant, event } = value;
      return isName(tenant) && event !== undefined ? { kind, tenant, event } : null;
    }
    default:
      return undefined;
  }
}

function invalid(problem: string): Decoded {
  return { is: 'invalid', problem };
}

function isListOf(
  value: unknown,
  isNumber: (value: unknown) => value is number,
): value is (readonly [string, number])[] {
  return (
    Array.isArray(value) &&
    value.every(
      (item: unknown) =>
        Array.isArray(item) && item.length === 2 && isName(item[0]) && isNumber(item[1] as unknown),
    )
  );
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTokens(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
