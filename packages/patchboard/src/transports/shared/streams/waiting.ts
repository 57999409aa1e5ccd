import { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Call } from '../../../core/call/call.ts';
import type { LiveCall } from '../../../core/call/live-call.ts';
import type { Principal } from '../../../core/access/principal.ts';
import type { HttpContext } from '../http/context.ts';
import { principalOf } from '../routes/caller.ts';

/**
 * `work` gets a signal that fires when the asker hangs up or the server closes: then nobody waits any more. Nothing
 * moves on the connection meanwhile, so it may idle for as long as the work takes.
 */
export async function whileListening<T>(
  context: HttpContext,
  reply: FastifyReply,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  const leave = context.openStreams.add(abort, principalOf(reply.request));
  // Mounted in another server, a request may come by no socket at all.
  const socket = reply.raw.socket instanceof Socket ? reply.raw.socket : null;
  const idleMs = socket?.timeout ?? 0;
  socket?.setTimeout(0);
  reply.raw.once('close', abort);
  if (reply.raw.destroyed) abort();
  try {
    return await work(stop.signal);
  } finally {
    leave();
    socket?.setTimeout(idleMs);
    reply.raw.removeListener('close', abort);
    // The request came before the close began, so nobody else tells the connection to end.
    if (context.openStreams.isClosing) reply.header('connection', 'close');
  }
}

/** The call once it has ended, or as it is after `seconds`. */
export async function waitForEnd(
  context: HttpContext,
  reply: FastifyReply,
  asked: { principal: Principal; id: string; seconds: number; live?: LiveCall | null },
): Promise<Call | undefined> {
  const { principal, id, seconds, live } = asked;
  if (seconds === 0) return await context.engine.calls.find(principal, id);
  // The call is recorded: its arguments count among those of open calls now.
  context.bodies.letGo(reply.request);
  return await whileListening(
    context,
    reply,
    async (signal) => await context.engine.calls.wait(principal, id, seconds * 1000, signal, live),
  );
}
