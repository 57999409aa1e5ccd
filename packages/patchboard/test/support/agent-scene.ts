import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { z } from 'zod';
import {
  Agent,
  createPatchboard,
  tool,
  type AgentEvent,
  type AgentOptions,
  type BoardOptions,
  type LanguageModel,
  type Patchboard,
} from '../../src/index.ts';
import { scriptedModels, type Script, type ScriptedModels } from '../../src/testing/index.ts';
import { closedAfterEach } from './after-each.ts';

export type Vendor = 'openai' | 'anthropic';

export interface Scene {
  readonly agent: Agent;
  readonly board: Patchboard;
  readonly models: ScriptedModels;
  readonly model: LanguageModel;
}

export const add = tool({
  name: 'math.add',
  description: 'Add two numbers',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
});

/** Scenes that are taken down after each test of the file. */
export function scenes(): {
  readonly aScene: (
    script: Script,
    options?: Partial<AgentOptions>,
    board?: BoardOptions,
    vendor?: Vendor,
  ) => Promise<Scene>;
  readonly aModel: (
    script: Script,
    vendor?: Vendor,
  ) => Promise<{ model: LanguageModel; models: ScriptedModels }>;
} {
  const closeLater = closedAfterEach();
  const aModel = async (script: Script, vendor: Vendor = 'openai') => {
    const models = await scriptedModels(script);
    closeLater(() => models.close());
    return { model: connect(vendor, models), models };
  };
  return {
    aModel,
    aScene: async (script, options = {}, boardOptions = {}, vendor = 'openai') => {
      const { model, models } = await aModel(script, vendor);
      const board = await createPatchboard({ tools: [add], ...boardOptions });
      closeLater(() => board.close());
      return { agent: new Agent({ board, model, ...options }), board, models, model };
    },
  };
}

function connect(vendor: Vendor, { baseUrl: baseURL }: ScriptedModels): LanguageModel {
  const settings = { baseURL, apiKey: 'none' };
  return vendor === 'openai'
    ? createOpenAI(settings).chat('scripted')
    : createAnthropic(settings)('scripted');
}

/** All events of an agent so far. */
export async function eventsOf(agent: Agent): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  const { bookmark: newest } = agent;
  if (newest === 0) return events;
  for await (const event of agent.subscribe()) {
    events.push(event);
    if (event.bookmark >= newest) break;
  }
  return events;
}
