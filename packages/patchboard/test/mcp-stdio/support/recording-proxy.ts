import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request that was forwarded, with the status of the response. */
interface Forwarded {
  readonly method: string;
  readonly status: number;
  readonly session: string | undefined;
}

export interface RecordingProxy {
  readonly url: string;
  readonly exchanges: readonly Forwarded[];
}

/** Forwards requests to a server and records what became of them. */
export async function recordingProxy(target: string): Promise<RecordingProxy> {
  const exchanges: Forwarded[] = [];
  const proxy = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const { host: _, ...kept } = headers;
    const forwarded = sendRequest(`${target}${url}`, { method, headers: kept }, (response) => {
      const status = response.statusCode ?? 0;
      exchanges.push({ method, status, session: headers['mcp-session-id']?.toString() });
      outgoing.writeHead(status, response.headers).flushHeaders();
      response.on('error', () => outgoing.destroy()).pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    outgoing.once('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(async () => {
    proxy.closeAllConnections();
    await once(proxy.close(), 'close');
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, exchanges };
}
