import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, type PatchboardClient } from '@patchboard/client';
import type { Target } from './client-run.ts';

const POLL_MS = 50;
const TIME_LIMIT_MS = 20_000;

/** The operator of the server: approves calls, and sees the calls of every agent. */
export class Operator {
  readonly #client: PatchboardClient;

  private constructor(client: PatchboardClient) {
    this.#client = client;
  }

  static async of({ url, dataFolder }: Target): Promise<Operator> {
    const key = (await readFile(join(dataFolder, 'operator.token'), 'utf8')).trim();
    return new Operator(createClient({ url, key }));
  }

  async approve(toolCallId: string): Promise<void> {
    for await (const { tool_call_id: id, digest } of this.#client.approvals())
      if (id === toolCallId) {
        await this.#client.decide(id, { decision: 'allow', digest });
        return;
      }
    throw new Error(`no approval waits for ${toolCallId}`);
  }

  /** The era of the client that made the newest call. Without a session, a call has a run of its agent. */
  async eraOfNewestCall(): Promise<'legacy' | 'modern'> {
    const { items } = await this.#client.calls({ limit: 1 }).page();
    const [call] = items;
    if (call === undefined) throw new Error('there is no call');
    return call.run_id === `mcp:${call.agent_id}` ? 'modern' : 'legacy';
  }

  /** Resolves with the id of the newest call of the tool as soon as it is in the given state. */
  async callIn(state: 'EXECUTING' | 'CANCELLED', toolName: string): Promise<string> {
    const deadline = Date.now() + TIME_LIMIT_MS;
    while (Date.now() < deadline) {
      const { items } = await this.#client.calls({ toolName, limit: 1 }).page();
      const [call] = items;
      if (call?.state === state) return call.tool_call_id;
      await delay(POLL_MS);
    }
    throw new Error(`no call of ${toolName} was ${state} within ${TIME_LIMIT_MS / 1000} s`);
  }
}
