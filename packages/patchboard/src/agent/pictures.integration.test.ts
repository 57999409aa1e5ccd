import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs, type LanguageModel as AiSdkModel } from 'ai';
import { describe, expect, it } from 'vitest';
import { content, imageBlock } from '@patchboard/wire';
import { eventsOf, scenes } from '../../test/support/agent-scene.ts';
import { closedAfterEach } from '../../test/support/after-each.ts';
import {
  Agent,
  createPatchboard,
  formatRequest,
  textDialect,
  toAiSdkTools,
  tool,
  type LanguageModel,
} from '../index.ts';
import { scriptedModels, type Script, type ScriptedModels } from '../testing/index.ts';

const { aScene } = scenes();
const closeLater = closedAfterEach();

const DATA = 'QUJD'.repeat(20_000);
const shoot = tool('camera.shoot', () => content(['the screen', imageBlock(DATA)], { width: 2 }));
const SCRIPT: Script = [{ calls: [{ name: 'camera.shoot', args: {} }] }, 'A screen.', 'Still a screen.'];
const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DATA } };

const bodyOf = (models: ScriptedModels, index: number): string =>
  JSON.stringify(models.requests[index]?.body);

describe('a picture that a tool returns to an agent', () => {
  it('is a block for Anthropic, beside its text', async () => {
    const { agent, models } = await aScene(SCRIPT, {}, { tools: [shoot] }, 'anthropic');
    const reply = await agent.send('Look.');
    expect(reply.calls[0]?.result).toEqual(content(['the screen', imageBlock(DATA)], { width: 2 }));
    expect(models.requests[1]?.body['messages']).toMatchObject([
      {},
      {},
      {
        content: [
          {
            type: 'tool_result',
            content: [{ text: 'the screen' }, IMAGE, { text: '{"width":2}' }],
          },
        ],
      },
    ]);
  });

  it('is a block for the Responses API', async () => {
    const models = await scriptedModels(SCRIPT);
    closeLater(() => models.close());
    const board = await createPatchboard({ tools: [shoot] });
    closeLater(() => board.close());
    const model: LanguageModel = createOpenAI({ baseURL: models.baseUrl, apiKey: 'none' })('scripted');
    await new Agent({ board, model }).send('Look.');
    expect(bodyOf(models, 1)).toContain(`"image_url":"data:image/png;base64,${DATA}"`);
  });

  it('is named for chat completions and for text protocols', async () => {
    const { models, agent } = await aScene(SCRIPT, {}, { tools: [shoot] });
    await agent.send('Look.');
    expect(bodyOf(models, 1)).toContain('[image/png, 60 kB]');
    expect(bodyOf(models, 1).length).toBeLessThan(10_000);
    const asked = formatRequest({ toolName: 'camera.shoot', args: {} });
    const text = await aScene(
      [asked, 'A screen.'],
      { dialect: textDialect() },
      { tools: [shoot] },
      'anthropic',
    );
    await text.agent.send('Look.');
    expect(bodyOf(text.models, 1)).toContain('the screen\\n[image/png, 60 kB]\\n{\\\"width\\\":2}');
  });

  it('is stored once: the journal names it, and a resumed agent shows it to its model again', async () => {
    const { agent, board, model, models } = await aScene(SCRIPT, {}, { tools: [shoot] }, 'anthropic');
    await agent.send('Look.');
    const journal = await board.host.store.readJournal(agent.id, 0, 1000);
    expect(journal.map(({ body }) => body).join('')).not.toContain(DATA.slice(0, 1000));
    expect(journal.map(({ body }) => body).join('')).toContain('[image/png, 60 kB]');
    expect(JSON.stringify(await eventsOf(agent))).not.toContain(DATA.slice(0, 1000));
    const resumed = await Agent.resume(agent.id, { board, model });
    expect(resumed.messages).toEqual(agent.messages);
    await resumed.send('And now?');
    expect(bodyOf(models, 2)).toContain(JSON.stringify(IMAGE));
  });

  it('reaches a model in a loop of the AI SDK', async () => {
    const models = await scriptedModels(SCRIPT);
    closeLater(() => models.close());
    const board = await createPatchboard({ tools: [shoot] });
    closeLater(() => board.close());
    await generateText({
      model: createAnthropic({ baseURL: models.baseUrl, apiKey: 'none' })('scripted') as AiSdkModel,
      tools: toAiSdkTools(board) as Parameters<typeof generateText>[0]['tools'] & object,
      stopWhen: stepCountIs(3),
      prompt: 'Look.',
    });
    expect(bodyOf(models, 1)).toContain(JSON.stringify(IMAGE));
  });
});
