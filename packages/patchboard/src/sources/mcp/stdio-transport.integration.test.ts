import { expect, it } from 'vitest';
import { nodeClock } from '../../runtime/node-clock.ts';
import { NotStarted } from './mcp-connection.ts';
import { StdioTransport } from './stdio-transport.ts';

it('keeps a bounded amount of what a process does not read; further requests are not started', async () => {
  const transport = new StdioTransport(
    { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'], env: {}, cwd: null },
    { clock: nodeClock, onStderr: () => {}, onLongLine: () => {} },
  );
  await transport.start();
  const text = 'x'.repeat(1_048_576);
  const sent = Array.from({ length: 12 }, (_, id) =>
    transport.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { text } }).then(
      () => null,
      (error: unknown) => error,
    ),
  );
  await transport.close();
  const errors = await Promise.all(sent);
  expect(errors.slice(0, 4).filter((error) => error instanceof NotStarted)).toEqual([]);
  expect(errors.slice(6).every((error) => error instanceof NotStarted)).toBe(true);
});
