// A board whose calls are in PostgreSQL: a call that one process made is there for the next.
//
//   DATABASE_URL=postgres://user:password@localhost/database node examples/postgres.ts

import { createPatchboard, postgres, tool } from 'patchboard';

const url = process.env['DATABASE_URL'] ?? 'postgres://postgres@localhost/postgres';
const options = {
  tools: [tool('math.add', ({ a, b }: { a: number; b: number }) => ({ sum: a + b }))],
  // A schema of its own: one process uses a schema at a time.
  store: postgres(url, { schema: 'patchboard_example' }),
};

const first = await createPatchboard(options);
const { id, state, result } = await first.call('math.add', { a: 1, b: 2 });
console.log(state, result);
await first.close();

const second = await createPatchboard(options);
const found = await second.get(id);
console.log(found?.state, found?.result);
await second.close();
