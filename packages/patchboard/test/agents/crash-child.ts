// An agent that kills its process at a named point: `crash-child.ts FOLDER MODEL_URL POINT HIT`.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { createOpenAI } from '@ai-sdk/openai';
import { isOpen } from '../../src/core/call.ts';
import type { Store } from '../../src/core/ports.ts';
import { Agent, createPatchboard, sqlite, type LanguageModel } from '../../src/index.ts';
import { crashTools, PERMISSION, type CrashPoint } from './crash-story.ts';

const [folder = '', baseURL = '', point = '', hit = '1'] = process.argv.slice(2);
let left = Number(hit);

function reach(name: CrashPoint): void {
  if (name !== point) return;
  left -= 1;
  if (left > 0) return;
  // Nothing after this line runs: the kernel takes the process before the call returns.
  process.kill(process.pid, 'SIGKILL');
}

/** The store, with a point before and after each change that matters to an agent. */
function crashing(store: Store): Store {
  const appendJournal: Store['appendJournal'] = async (journal, after, entries) => {
    const isMessage = entries.some(({ kind }) => kind === 'message');
    if (isMessage) reach('message.before');
    const written = await store.appendJournal(journal, after, entries);
    if (isMessage) reach('message.after');
    if (entries.some(({ body }) => body.includes('"permission_required"'))) reach('asked.after');
    if (entries.some(({ body }) => body.includes('"tool:end"'))) reach('ending.told');
    return written;
  };
  const insertCall: Store['insertCall'] = async (record) => {
    const inserted = await store.insertCall(record);
    reach('call.recorded');
    return inserted;
  };
  const replaceCall: Store['replaceCall'] = async (call, ...rest) => {
    const replaced = await store.replaceCall(call, ...rest);
    if (!isOpen(call)) reach('result.after');
    return replaced;
  };
  const changed: Partial<Store> = { appendJournal, insertCall, replaceCall };
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(changed, name) ?? Reflect.get(target, name, target);
      return typeof value === 'function' && !(name in changed)
        ? (value as () => unknown).bind(target)
        : value;
    },
  });
}

const model: LanguageModel = createOpenAI({ baseURL, apiKey: 'none' }).chat('scripted');
const watched: LanguageModel = {
  specificationVersion: model.specificationVersion,
  provider: model.provider,
  modelId: model.modelId,
  doStream: (request) => {
    reach('model.before');
    return model.doStream(request);
  },
};

// One ending must be told by itself: here the second act never comes to its own.
const secondMayGo = point === 'ending.told' ? new Promise<void>(() => {}) : Promise.resolve();
const effect = (line: string): void => appendFileSync(join(folder, 'effects'), `${line}\n`);
const board = await createPatchboard({
  store: { folder, open: async () => crashing(await sqlite(folder).open()) },
  tools: crashTools(effect, reach, secondMayGo),
});
const agent = new Agent({ board, model: watched, id: 'story', permission: PERMISSION });
await agent.send('begin');
await board.close();
