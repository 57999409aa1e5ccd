import { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Call } from '../../../core/call/call.ts';
import type { LiveCall } from '../../../core/call/live-call.ts';
import type { Principal } from '../../../core/access/principal.ts';
import type { HttpContext } from '../http/context.ts';
import { principalOf } from '../routes/caller.ts';

/**
 * Runs `work` with a signal that aborts when the client disconnects or the server closes. The socket's idle timeout is off
 * meanwhile.
 */
export async function whileConnected<T>(
  context: HttpContext,
  reply: FastifyReply,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  const leave = context.openStreams.add(abort, principalOf(reply.request));
  // Mounted in another server, a request may have no socket.
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
    // This request arrived before the close began, so its connection must be closed here.
    if (context.openStreams.isClosing) reply.header('connection', 'close');
  }
}

/** Returns the call when it has ended or, unless `untilEnd`, waits for input, or its current state after `seconds`. */
export async function waitForEnd(
  context: HttpContext,
  reply: FastifyReply,
  wanted: { principal: Principal; id: string; seconds: number; live?: LiveCall | null; untilEnd?: boolean },
): Promise<Call | undefined> {
  const { principal, id, seconds, live, untilEnd = false } = wanted;
  if (seconds === 0) return await context.engine.calls.find(principal, id);
  // The call is recorded: its arguments now count as those of an open call.
  context.bodies.release(reply.request);
  return await whileConnected(
    context,
    reply,
    async (signal) =>
      await context.engine.calls.wait(principal, id, seconds * 1000, { signal, live, untilInput: !untilEnd }),
  );
}
