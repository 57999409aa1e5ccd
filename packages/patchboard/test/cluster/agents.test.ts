import { expect, it, onTestFinished } from 'vitest';
import { Agent, createPatchboard, postgres, tool, type Patchboard } from '../../src/index.ts';
import { aSchema, sharedPostgres } from '../services/shared-postgres.ts';
import { scenes } from '../support/agent-scene.ts';

const { aModel } = scenes();

it('a call of an agent that another node approves runs at the node of the agent, with its hooks', async () => {
  const service = await sharedPostgres(15);
  const schema = aSchema(service);
  const ran: string[] = [];
  const aBoard = async (name: string): Promise<Patchboard> => {
    const erase = tool({
      name: 'files.delete',
      metadata: { destructive: true },
      execute: () => {
        ran.push(name);
        return { deleted: 1 };
      },
    });
    const board = await createPatchboard({ tools: [erase], store: postgres(service.url, { schema }) });
    onTestFinished(() => board.close());
    return board;
  };
  const [a, b] = [await aBoard('a'), await aBoard('b')];
  const { model } = await aModel([
    { text: 'Now the file.', calls: [{ name: 'files.delete' }, { name: 'files.delete' }] },
    'Done.',
  ]);
  const agent = new Agent({
    board: a,
    model,
    hooks: { postToolUse: () => ({ update: { result: { seen: 'by the hook' } } }) },
  });
  agent.on('permission_required', ({ call }) => void b.decide(call.id, 'allow'));
  const reply = await agent.send('Go.');
  expect(reply.calls.map(({ state, result }) => [state, result])).toEqual([
    ['COMPLETED', { deleted: 1, seen: 'by the hook' }],
    ['COMPLETED', { deleted: 1, seen: 'by the hook' }],
  ]);
  expect(ran).toEqual(['a', 'a']);
});
