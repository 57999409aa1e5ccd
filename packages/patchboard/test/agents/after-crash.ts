import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenAI } from '@ai-sdk/openai';
import { expect } from 'vitest';
import {
  Agent,
  createPatchboard,
  sqlite,
  type AgentEvent,
  type Message,
  type Patchboard,
} from '../../src/index.ts';
import { scriptedModels, type ScriptedModels } from '../../src/testing/index.ts';
import { eventsOf } from '../support/agent-scene.ts';
import { crashTools, PERMISSION, storyOf, type CrashPoint } from './crash-story.ts';
import { killedChild } from './killed-child.ts';

const CHILD = join(import.meta.dirname, 'crash-child.ts');

interface Aftermath {
  readonly agent: Agent;
  readonly board: Patchboard;
  readonly models: ScriptedModels;
  readonly effects: () => string[];
}

/** Takes what has to be closed after the test. */
type CloseLater = (close: () => unknown) => void;

/** Runs the story in a process that dies at `point`, then resumes it in this one. */
export async function afterCrash(
  closeLater: CloseLater,
  point: CrashPoint,
  hit: number,
  careful = false,
): Promise<Aftermath> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-crash-'));
  closeLater(() => rm(folder, { recursive: true }));
  const models = await scriptedModels(storyOf(careful));
  closeLater(() => models.close());
  await killedChild(CHILD, folder, models.baseUrl, point, String(hit));
  const file = join(folder, 'effects');
  const tools = crashTools(
    (line) => appendFileSync(file, `${line}\n`),
    () => {},
  );
  const board = await createPatchboard({ store: sqlite(folder), tools });
  closeLater(() => board.close());
  const model = createOpenAI({ baseURL: models.baseUrl, apiKey: 'none' }).chat('scripted');
  const agent = await Agent.resume('story', { board, model, permission: PERMISSION });
  const effects = (): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
  return { agent, board, models, effects };
}

/** Every request has one result, in the message that follows it. */
export function withoutResult(messages: readonly Message[]): string[] {
  const problems: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const asked = message.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    if (asked.length === 0) continue;
    const next = messages[index + 1]?.content ?? [];
    const returned = next.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    if (asked.join() !== returned.join()) problems.push(`${asked.join()} has results of ${returned.join()}`);
  }
  return problems;
}

/** What the vendor would refuse. */
function withoutResultOnTheWire({ requests }: ScriptedModels): string[] {
  return requests.flatMap(({ body }) => {
    const { messages } = body as {
      messages: { role: string; tool_calls?: { id: string }[]; tool_call_id?: string }[];
    };
    const asked = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
    const returned = messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]));
    return asked.join() === returned.join() ? [] : [`${asked.join()} has results of ${returned.join()}`];
  });
}

/** Number of events of each call, by type. */
function tellings(events: readonly AgentEvent[], type: 'tool:start' | 'tool:end'): string[] {
  return events.flatMap((event) => (event.type === type ? [event.call.id] : [])).toSorted();
}

/** Where the agent is killed, for which time, and how the calls that were under way then ended. */
export type Crash = readonly [point: CrashPoint, hit: number, outcomes: readonly string[]];

export const CRASHES: readonly Crash[] = [
  ['message.before', 1, []],
  ['message.after', 1, []],
  ['model.before', 1, []],
  ['message.before', 2, []],
  ['message.after', 2, ['not_started', 'not_started']],
  ['call.recorded', 1, ['unknown', 'unknown']],
  ['tool.begun', 1, ['unknown', 'unknown']],
  ['tool.effect', 1, ['unknown', 'unknown']],
  ['tool.begun', 2, ['unknown', 'unknown']],
  ['tool.effect', 2, ['unknown', 'unknown']],
  ['result.after', 1, []],
  ['ending.recorded', 1, ['unknown']],
  ['message.before', 3, []],
  ['message.after', 3, []],
  ['model.before', 2, []],
  ['message.before', 4, []],
  ['message.after', 4, []],
];

/** Every request has a result and nothing is done twice, whether it goes on or has ended. */
export async function checkCrash(closeLater: CloseLater, [point, hit, outcomes]: Crash): Promise<void> {
  const { agent, board, models, effects } = await afterCrash(closeLater, point, hit);
  const resumed = (await eventsOf(agent)).find(({ type }) => type === 'agent_resumed');
  const sealed = resumed?.type === 'agent_resumed' ? resumed.sealed : [];
  expect(sealed.map(({ outcome }) => outcome)).toEqual(outcomes);
  // Before anything goes on, what was interrupted has its result.
  expect(withoutResult(agent.messages)).toEqual([]);

  if (point === 'message.before' && hit === 1) expect(agent.messages).toEqual([]);
  else if (point === 'message.after' && hit === 4) expect(agent.isUnfinished).toBe(false);
  else expect(await agent.continue()).toMatchObject({ reason: 'done', text: 'The end.' });

  expect(withoutResult(agent.messages)).toEqual([]);
  expect(withoutResultOnTheWire(models)).toEqual([]);
  const uses = agent.messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_use'));
  const records = await Promise.all(
    uses.map(async (use) => (await board.get(use.type === 'tool_use' ? use.callId : ''))!),
  );
  for (const { input, state, failure } of records) {
    const times = effects().filter((line) => line === (input as { what: string }).what).length;
    if (state === 'COMPLETED') expect(times).toBe(1);
    else if (failure?.outcome === 'not_started') expect(times).toBe(0);
    else expect([state, times <= 1]).toEqual(['SEALED', true]);
  }
  const events = await eventsOf(agent);
  const ids = records.map(({ id }) => id).toSorted();
  expect(tellings(events, 'tool:start')).toEqual(ids);
  expect(tellings(events, 'tool:end')).toEqual(ids);
}
