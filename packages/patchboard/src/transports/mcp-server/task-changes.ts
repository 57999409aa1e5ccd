import { isOpen, type Call } from '../../core/call/call.ts';
import { maySeeCall } from '../../core/call/visibility.ts';
import { messageOf } from '../../core/failures.ts';
import type { Exchange } from './exchange.ts';
import { taskMembers } from './task-view.ts';

/** The calls with these ids that the principal may see, in that order. */
export async function visibleTasks(
  { context, principal }: Exchange,
  ids: readonly string[],
): Promise<readonly Call[]> {
  const found = await Promise.all(ids.map(async (id) => await context.engine.calls.find(principal, id)));
  return found.filter((call) => call !== undefined);
}

/**
 * Calls `notify` with the JSON members of a task after each change that is committed, until the returned function is
 * called. The end of a task is notified once, also of one that had ended before.
 */
export function followTasks(
  exchange: Exchange,
  calls: readonly Call[],
  notify: (members: string) => void,
): () => void {
  const stops = calls.map((call) => followTask(exchange, call, notify));
  return () => {
    for (const stop of stops) stop();
  };
}

function followTask(exchange: Exchange, found: Call, notify: (members: string) => void): () => void {
  const { context, principal } = exchange;
  const { engine, log } = context;
  /** The last state that the client has, or that it can fetch. */
  let last = isOpen(found) ? taskMembers(exchange, found) : '';
  let hasEnded = false;
  const changed = (call: Call): void => {
    if (hasEnded || !maySeeCall(principal, call)) return;
    const members = taskMembers(exchange, call);
    // One commit may write several rows.
    if (members === last) return;
    last = members;
    notify(members);
    if (isOpen(call)) return;
    hasEnded = true;
    stop();
  };
  const stop = engine.feed.listenToCall(found.id, ({ seq, call }) => {
    if (seq !== null && call !== null) changed(call);
  });
  // It may have changed before the listener was there.
  const checkAgain = async (): Promise<void> => {
    const call = await engine.calls.find(principal, found.id);
    if (call !== undefined) changed(call);
  };
  checkAgain().catch((error: unknown) => log.error('mcp.failed', { error: messageOf(error) }));
  return () => {
    hasEnded = true;
    stop();
  };
}
