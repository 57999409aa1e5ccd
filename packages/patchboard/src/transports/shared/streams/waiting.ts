import { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Call } from '../../../core/call/call.ts';
import type { LiveCall } from '../../../core/call/live-call.ts';
import type { Principal } from '../../../core/access/principal.ts';
import type { HttpContext } from '../http/context.ts';
import { principalOf } from '../routes/caller.ts';

/**
 * Calls `abort` when the client disconnects, its credential ends or the server closes. The socket's idle timeout is off
 * until the returned function is called.
 */
export function watchConnection(context: HttpContext, reply: FastifyReply, abort: () => void): () => void {
  const leave = context.openStreams.add(abort, principalOf(reply.request));
  // Mounted in another server, a request may have no socket.
  const socket = reply.raw.socket instanceof Socket ? reply.raw.socket : null;
  const idleMs = socket?.timeout ?? 0;
  socket?.setTimeout(0);
  reply.raw.once('close', abort);
  if (reply.raw.destroyed) abort();
  return () => {
    leave();
    socket?.setTimeout(idleMs);
    reply.raw.removeListener('close', abort);
    // This request arrived before the server began to stop, so its connection must be closed here. A stream has sent its headers.
    const isStopping = context.openStreams.isClosing || context.isLeaving?.() === true;
    if (isStopping && !reply.raw.headersSent) reply.header('connection', 'close');
  };
}

/** Runs `work` with a signal that aborts as `watchConnection` says. */
export async function whileConnected<T>(
  context: HttpContext,
  reply: FastifyReply,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const release = watchConnection(context, reply, () => stop.abort());
  try {
    return await work(stop.signal);
  } finally {
    release();
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
