import type { Clock } from '../../core/ports.ts';
import type { McpSession } from './mcp-session.ts';

const SHORTEST_MS = 1_000;
const LONGEST_MS = 60_000;

/**
 * Calls `onChanged` when the server reports that its tools changed, until the returned function is called. Newer servers report it on
 * the stream of a subscription, which is opened again when it ends. Changes before it is open are unknown, so they count as one.
 */
export function watchTools(session: McpSession, clock: Clock, onChanged: () => void): () => void {
  const { client } = session;
  client.setNotificationHandler('notifications/tools/list_changed', () => onChanged());
  if (session.era !== 'modern' || client.getServerCapabilities()?.tools?.listChanged !== true)
    return () => {};

  let isStopped = false;
  let delay = SHORTEST_MS;
  let cancelTimer = (): void => {};
  const again = (): void => {
    if (isStopped) return;
    cancelTimer = clock.after(delay, () => listen());
    delay = Math.min(LONGEST_MS, delay * 2);
  };
  const listen = (): void => {
    const opened = client.listen({ toolsListChanged: true }).then((subscription) => {
      delay = SHORTEST_MS;
      onChanged();
      return subscription.closed;
    });
    // A server that is gone fails the session. One that refuses has its tools read at intervals.
    opened.then(again, again);
  };
  listen();
  return () => {
    isStopped = true;
    cancelTimer();
  };
}
