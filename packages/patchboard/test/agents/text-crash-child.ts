// An agent over a text protocol that kills its process while a reply still streams:
// `text-crash-child.ts FOLDER MODEL_URL POINT CHARACTERS`, where the reply hangs after CHARACTERS characters.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { createOpenAI } from '@ai-sdk/openai';
import { Agent, createPatchboard, sqlite, textDialect, type LanguageModel } from '../../src/index.ts';
import { crashPoints } from './crash-points.ts';
import { crashTools } from './crash-story.ts';

const [folder = '', baseURL = '', point = '', characters = '0'] = process.argv.slice(2);
const { reach, crashing } = crashPoints(point, 1);
let tellHeard = (): void => {};
const heardAll = new Promise<void>((resolve) => (tellHeard = resolve));

const model: LanguageModel = createOpenAI({ baseURL, apiKey: 'none' }).chat('scripted');
const watched: LanguageModel = {
  specificationVersion: model.specificationVersion,
  provider: model.provider,
  modelId: model.modelId,
  doStream: async (request) => {
    const { stream } = await model.doStream(request);
    const reader = stream.getReader();
    let heard = 0;
    const pull = async (controller: ReadableStreamDefaultController<unknown>): Promise<void> => {
      // A request for the next chunk means that all earlier ones were read.
      if (heard >= Number(characters)) {
        tellHeard();
        reach('reply.half');
      }
      const { done, value } = await reader.read();
      if (done) return controller.close();
      const part = value as { type: string; delta?: string };
      if (part.type === 'text-delta') heard += part.delta?.length ?? 0;
      controller.enqueue(value);
    };
    return { stream: new ReadableStream({ pull }, { highWaterMark: 0 }) as typeof stream };
  },
};

const effect = (line: string): void => appendFileSync(join(folder, 'effects'), `${line}\n`);
const tools = crashTools(effect, reach, heardAll, heardAll);
const board = await createPatchboard({
  store: { folder, open: async () => crashing(await sqlite(folder).open()) },
  tools,
});
await new Agent({ board, model: watched, id: 'story', dialect: textDialect() }).send('begin');
