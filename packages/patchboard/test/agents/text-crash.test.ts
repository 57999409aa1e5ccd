import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenAI } from '@ai-sdk/openai';
import { describe, expect, it } from 'vitest';
import { Agent, createPatchboard, formatRequest, sqlite, textDialect } from '../../src/index.ts';
import { scriptedModels, type ScriptedModels } from '../../src/testing/index.ts';
import { eventsOf } from '../support/agent-scene.ts';
import { crashTools, type CrashPoint } from './crash-story.ts';
import { killedChild } from './killed-child.ts';
import { closedAfterEach } from '../support/after-each.ts';

const CHILD = join(import.meta.dirname, 'text-crash-child.ts');
const FIRST = formatRequest({ toolName: 'act', args: { what: 'first' } });
const SECOND = formatRequest({ toolName: 'act', args: { what: 'second' } });
const REPLY = `I will.\n${FIRST}\nand then\n${SECOND}\nthat is all`;
const END_OF_FIRST = REPLY.indexOf(FIRST) + FIRST.length;
const AT_SECOND = REPLY.indexOf(SECOND);

const closeLater = closedAfterEach();

/** Hangs in its first reply; afterwards it asks for whatever it has no result of. */
async function models(cut: number): Promise<ScriptedModels> {
  const made = await scriptedModels(({ index, body }) => {
    if (index === 0) return { text: REPLY.slice(0, cut), ending: 'hang' };
    const results = JSON.stringify(body).split('<<<[TOOL_RESULT]>>>').length - 1;
    return [REPLY, SECOND, 'The end.'][results === 0 ? 0 : index === 2 || results > 1 ? 2 : 1] ?? '';
  });
  closeLater(() => made.close());
  return made;
}

/** Where the reply was cut, where the process died, what was done by then, and what is sealed of it. */
const CASES: readonly (readonly [string, number, CrashPoint, string[], string[]])[] = [
  ['in a value of the first request', REPLY.indexOf('first') + 2, 'reply.half', [], []],
  ['in the marker that ends the first request', END_OF_FIRST - 4, 'reply.half', [], []],
  ['right after the first request, before it has a call', END_OF_FIRST, 'partial.after', [], ['not_started']],
  ['in the marker that begins the second', AT_SECOND + 5, 'call.recorded', [], ['unknown']],
  ['in a value of the second', REPLY.indexOf('second') + 3, 'tool.effect', ['first'], ['unknown']],
  ['in the marker that ends the second', AT_SECOND + SECOND.length - 1, 'result.after', ['first'], []],
];

describe('an agent over a text protocol that is killed while the model speaks', () => {
  it.each(CASES)(
    '%s goes on, runs no half of a request, and none twice',
    async (_where, cut, point, done, outcomes) => {
      const folder = await mkdtemp(join(tmpdir(), 'patchboard-text-crash-'));
      closeLater(() => rm(folder, { recursive: true }));
      const { baseUrl: baseURL } = await models(cut);
      await killedChild(CHILD, folder, baseURL, point, String(cut));
      const file = join(folder, 'effects');
      const effects = (): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
      expect(effects()).toEqual(done);

      const note = (line: string): void => appendFileSync(file, `${line}\n`);
      const board = await createPatchboard({ store: sqlite(folder), tools: crashTools(note, () => {}) });
      closeLater(() => board.close());
      const model = createOpenAI({ baseURL, apiKey: 'none' }).chat('scripted');
      const agent = await Agent.resume('story', { board, model, dialect: textDialect() });
      const resumed = (await eventsOf(agent)).find((event) => event.type === 'agent_resumed');
      expect(resumed?.sealed.map(({ outcome }) => outcome)).toEqual(outcomes);
      // Taking up alone runs nothing.
      expect(effects()).toEqual(done);

      expect(await agent.continue()).toMatchObject({ reason: 'done', text: 'The end.' });
      const ran = outcomes.length === 0 || done.length > 0 ? ['first', 'second'] : ['second'];
      expect(effects()).toEqual(ran);
      const uses = agent.messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_use'));
      const results = agent.messages.flatMap(({ content }) =>
        content.filter(({ type }) => type === 'tool_result'),
      );
      expect(uses).toHaveLength(2);
      expect(results).toHaveLength(2);
    },
  );
});
