import { isOpen, type Call } from '../../../core/call/call.ts';
import { maySeeCall } from '../../../core/call/visibility.ts';
import { messageOf } from '../../../core/failures.ts';
import type { Exchange } from '../exchange.ts';
import { taskMembers } from './task-view.ts';

/** A call that a client follows: without the call, whose result may be large. */
export interface FollowedTask {
  readonly id: string;
  /** The JSON members of the task as the client can fetch them; empty if it has ended. */
  readonly members: string;
}

/** The calls with these ids that the principal may read, in that order. */
export async function visibleTasks(
  exchange: Exchange,
  ids: readonly string[],
): Promise<readonly FollowedTask[]> {
  const found: FollowedTask[] = [];
  for (const id of ids) {
    const call = await exchange.context.engine.calls.findReadable(exchange.principal, id);
    if (call !== undefined) found.push({ id, members: isOpen(call) ? taskMembers(exchange, call) : '' });
  }
  return found;
}

/**
 * Calls `notify` with the JSON members of a task after each change that is committed, until the returned function is
 * called. The end of a task is notified once, also of one that had ended before.
 */
export function followTasks(
  exchange: Exchange,
  tasks: readonly FollowedTask[],
  notify: (members: string) => void,
): () => void {
  const stops = tasks.map((task) => followTask(exchange, task, notify));
  return () => {
    for (const stop of stops) stop();
  };
}

function followTask(
  exchange: Exchange,
  { id, members: seen }: FollowedTask,
  notify: (members: string) => void,
): () => void {
  const { context, principal } = exchange;
  const { engine, log } = context;
  /** The last state that the client has, or that it can fetch. */
  let last = seen;
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
    last = '';
    stop();
  };
  const stop = engine.feed.listenToCall(id, ({ seq, call }) => {
    if (seq !== null && call !== null) changed(call);
  });
  // It may have changed before the listener was there.
  const checkAgain = async (): Promise<void> => {
    const call = await engine.calls.find(principal, id);
    if (call !== undefined) changed(call);
  };
  checkAgain().catch((error: unknown) => log.error('mcp.failed', { error: messageOf(error) }));
  return () => {
    hasEnded = true;
    stop();
  };
}
