import type { Socket } from 'node:net';

/** Resets the connection, so that the other side gets an error. After `end` Node can only close it. */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
