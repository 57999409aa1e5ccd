import type { Engine } from '../../../core/engine.ts';
import { isRecord } from '@patchboard/wire/json';
import { isId } from '../messages/message.ts';
import type { RpcId } from '../messages/rpc-error.ts';
import type { Session } from './session.ts';

/** A message from node to node about a session. Each node may hold the stream of the session, or requests in progress. */
type SessionSignal =
  /** `notifications/cancelled` for a request that the sender has not taken. */
  | { readonly kind: 'cancelled'; readonly request: RpcId }
  /** The stored session was changed or removed. */
  | { readonly kind: 'changed' }
  /** A message for the stream of the session, which is not at the sender. `id` null: a notification. */
  | {
      readonly kind: 'message';
      readonly id: string | null;
      readonly method: string;
      readonly params: Readonly<Record<string, unknown>>;
    };

const TOPIC = 'mcp_session';

export function signalSession({ signals }: Pick<Engine, 'signals'>, id: string, signal: SessionSignal): void {
  signals.send(TOPIC, { session: id, ...signal });
}

/** `find`: returns a session that this node has. `changed`: called with a session that another node has changed. */
export function onSessionSignals(
  { signals }: Pick<Engine, 'signals'>,
  find: (id: string) => Session | undefined,
  changed: (session: Session) => void,
): void {
  signals.on(TOPIC, (body) => {
    if (!isRecord(body) || typeof body['session'] !== 'string') return;
    const session = find(body['session']);
    if (session === undefined) return;
    const { kind, request, id, method, params } = body;
    if (kind === 'cancelled' && isId(request)) session.cancel(request);
    else if (kind === 'changed') changed(session);
    else if (kind === 'message' && typeof method === 'string' && isRecord(params)) {
      if (typeof id === 'string') session.stream?.request(id, method, params);
      else session.stream?.notify(method, params);
    }
  });
}
