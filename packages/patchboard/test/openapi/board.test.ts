import { expect, it, onTestFinished } from 'vitest';
import { aServer, OPERATOR_TOKEN } from '../http/support/a-server.ts';
import { add } from '../http/support/toy-tools.ts';
import { aBoard } from '../support/a-board.ts';
import { waitFor } from '../support/wait-for.ts';

it('a board offers the operations of a Patchboard that its options name, with a credential from them', async () => {
  const inner = await aServer({ tools: [add] });
  onTestFinished(() => inner.close());
  const board = await aBoard({
    openapi: {
      inner: {
        description: `${inner.url}/openapi.json`,
        headers: { Authorization: `Bearer ${OPERATOR_TOKEN}` },
        tools: ['listTools', 'invokeTool', 'getCall', 'readPolicy'],
      },
    },
  });
  const connected = {
    name: 'inner',
    kind: 'openapi',
    state: 'connected',
    protocol: 'OpenAPI 3.1.0',
    rejected: [],
  };
  await waitFor(() => expect(board.upstreams.list()).toMatchObject([connected]));
  // A readonly operation first: on a busy machine the server refuses requests for a second, and these are sent again.
  const policy = await board.call('inner.readPolicy', {});
  expect(policy.result).toMatchObject({ version: 0 });
  const body = { run_id: 'run_1', args: { a: 2, b: 3 } };
  const invoked = await board.call('inner.invokeTool', { name: 'math.add', prefer: 'wait=10', body });
  expect(invoked.result).toMatchObject({ tool_name: 'math.add', result: 5 });
});
