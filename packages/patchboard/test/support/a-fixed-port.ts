import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the range of which the system gives ports to connections and to servers with port 0. */
const FIRST = 20_000;
const COUNT = 10_000;

/** A free port that no other test is given, for a server that is started again on the same port. */
export async function aFixedPort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    const probe = createServer().listen(port, '127.0.0.1');
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    probe.close();
    if (isFree) return port;
  }
}
