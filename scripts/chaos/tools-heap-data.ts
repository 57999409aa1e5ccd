import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  LanguageModel,
  ModelPart,
  ModelRequest,
} from '../../packages/patchboard/src/agent/loop/model.ts';
import type { SiteData } from '../../packages/patchboard/src/packs/heritage/records.ts';

const LARGE_TEXT = 'lorem ipsum dolor sit amet '.repeat(2500);

/** A heritage site with large results. */
export const LARGE_SITE: SiteData = {
  site_name: 'Village',
  contents: Array.from({ length: 10 }, (_, index) => ({
    id: `content-${index}`,
    content_type: 'story',
    title: `Story ${index}`,
    body: LARGE_TEXT.slice(0, 10_000),
    summary: null,
    tags: [],
    domains: [],
    source: null,
    credibility_score: null,
    verified: true,
    status: 'published',
    created_at: '2026-01-01T00:00:00Z',
  })),
  npcs: [
    {
      npc_id: 'teller',
      version: 1,
      active: true,
      name: 'ToolEventSink',
      persona: { story: LARGE_TEXT },
      knowledge_domains: [],
      greeting_templates: [],
      max_response_length: 100,
      must_cite_sources: false,
    },
  ],
  prompts: [{ npc_id: 'teller', prompt_type: 'system', version: 1, active: true, prompt_text: LARGE_TEXT }],
  pois: [
    {
      id: 'gate',
      name: 'Gate',
      type: 'gate',
      description: LARGE_TEXT,
      latitude: null,
      longitude: null,
    },
  ],
  routes: [],
};

/** Open-Meteo's format for both of its routes, with additional data. */
export const WEATHER_BODY: string = JSON.stringify({
  results: [{ name: 'Beijing', latitude: 39.9, longitude: 116.4 }],
  current: { temperature_2m: 25, weather_code: 0 },
  filler: LARGE_TEXT,
});

export interface WeatherService {
  readonly url: string;
  close(): Promise<void>;
}

export async function startWeatherService(): Promise<WeatherService> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(WEATHER_BODY);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The first agent hands the task to a sub-agent, which returns the task as its last message. */
export function delegatingModel(task: string): LanguageModel {
  return {
    specificationVersion: 'v3',
    provider: 'heap',
    modelId: 'delegating',
    doStream: async ({ prompt }) => ({ stream: streamOf(replyTo(prompt, task)) }),
  };
}

function replyTo(prompt: ModelRequest['prompt'], task: string): unknown[] {
  if (prompt.at(-1)?.role === 'tool') return text('done');
  const asked = prompt.find(({ role }) => role === 'user');
  const isTask = JSON.stringify(asked?.content).includes(task.slice(0, 100));
  if (isTask) return text(task);
  return [
    { type: 'tool-call', toolCallId: 'call_1', toolName: 'task_run', input: JSON.stringify({ task }) },
    finish('tool-calls'),
  ];
}

function text(delta: string): unknown[] {
  return [
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta },
    { type: 'text-end', id: '1' },
    finish('stop'),
  ];
}

function finish(unified: string): unknown {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  return { type: 'finish', finishReason: { unified }, usage };
}

function streamOf(parts: readonly unknown[]): ReadableStream<ModelPart> {
  return new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part as ModelPart);
      controller.close();
    },
  });
}
