// A tool in ten lines, run by an engine in this process. No server, no network.
//
//   node examples/embed.ts

import { createPatchboard, tool } from 'patchboard';
import { z } from 'zod';

const add = tool({
  name: 'math.add',
  description: 'Add two numbers',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
});

const board = await createPatchboard({ tools: [add] });

const record = await board.call('math.add', { a: 1, b: 2 });
console.log(record.state, record.result);
console.log(record.auditTrail.map((entry) => entry.state).join(' → '));

await board.close();
