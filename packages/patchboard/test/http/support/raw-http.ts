import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

/** Sends raw bytes and returns everything received until the server closes the connection. */
export async function exchange(port: number, text: string): Promise<string> {
  const socket = await open(port);
  const response = allOf(socket);
  socket.write(text);
  return await response;
}

export async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

export async function allOf(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.on('error', () => undefined);
  // Not `once`: errors while writing are expected here.
  await new Promise((resolve) => socket.on('close', resolve));
  return Buffer.concat(parts).toString();
}
