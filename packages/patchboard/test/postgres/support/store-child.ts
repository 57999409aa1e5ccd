// A process with a store: `store-child.ts URL SCHEMA`. Inserts the call of each number on stdin, and prints what happened.
import process from 'node:process';
import { createInterface } from 'node:readline';
import { postgresStore } from '../../../src/store/postgres/open.ts';
import { aCall, aRecord, digest } from '../../../src/store/samples.contract.ts';

const [url = '', schema = ''] = process.argv.slice(2);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const store = await postgresStore({ url, schema, digest, now: Date.now, firstIdAt: (ms) => `tc_${ms}` });
store.onFenced((problem) => print(`fenced: ${problem}`));
print('open');
for await (const line of createInterface({ input: process.stdin }))
  store.insertCall(aRecord(aCall(Number(line)))).then(
    ({ kind }) => print(`${line} ${kind}`),
    (error: Error) => print(`${line} ${error.name}`),
  );
await store.close();
