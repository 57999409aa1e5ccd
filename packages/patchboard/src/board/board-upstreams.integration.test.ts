import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { aBoard } from '../../test/support/a-board.ts';

it('is settled when the board closes, although an upstream has not responded', async () => {
  // It accepts connections and never responds.
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const board = await aBoard({ upstreams: { silent: { url: `http://127.0.0.1:${port}/mcp` } } });
  const settled = board.upstreams.settled();
  await board.close();
  await settled;
  await board.upstreams.settled();
  expect(board.upstreams.list()).toMatchObject([{ name: 'silent', state: 'disconnected' }]);
});
