// An agent that kills its process at a named point: `crash-child.ts FOLDER MODEL_URL POINT HIT`.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { createOpenAI } from '@ai-sdk/openai';
import { Agent, createPatchboard, sqlite, type LanguageModel } from '../../src/index.ts';
import { crashPoints } from './crash-points.ts';
import { crashTools, PERMISSION } from './crash-story.ts';

const [folder = '', baseURL = '', point = '', hit = '1'] = process.argv.slice(2);
const { reach, crashing } = crashPoints(point, Number(hit));

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

// The end of one call must be recorded alone: here the second act never ends.
const secondMayGo = point === 'ending.recorded' ? new Promise<void>(() => {}) : Promise.resolve();
const effect = (line: string): void => appendFileSync(join(folder, 'effects'), `${line}\n`);
const board = await createPatchboard({
  store: { folder, open: async () => crashing(await sqlite(folder).open()) },
  tools: crashTools(effect, reach, secondMayGo),
});
const agent = new Agent({ board, model: watched, id: 'story', permission: PERMISSION });
await agent.send('begin');
await board.close();
