import { createClient } from '@patchboard/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServerTool } from '../support/an-engine.ts';
import { aConsole, type TestConsole } from './support/a-console.ts';
import { seriousIn } from './support/accessibility.ts';

const trip = aServerTool({
  name: 'toy.trip',
  description: 'Plans a trip, and asks where to',
  annotations: { asks_input: true },
  execute: async (_args, context) => {
    const trip = await context.requestInput({
      message: 'Where to?',
      schema: {
        type: 'object',
        properties: {
          city: { type: 'string', description: 'where you want to go' },
          days: { type: 'integer', default: 3, maximum: 30 },
          unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
        },
        required: ['city'],
        additionalProperties: false,
      },
    });
    await context.requestInput({ message: 'Pay, please', url: 'https://pay.example/7' });
    return { trip };
  },
});

const summary = aServerTool({
  name: 'toy.summary',
  execute: (_args, context) =>
    context.requestInput({
      message: 'Summarise',
      sampling: {
        messages: [{ role: 'user', content: { type: 'text', text: 'a long page' } }],
        maxTokens: 9,
      },
    }),
});

let board: TestConsole;
beforeAll(async () => {
  board = await aConsole({ tools: [trip, summary] });
});
afterAll(async () => {
  await board?.close();
});

const asked = (page: Page, message: string) => page.locator('[data-input-request]', { hasText: message });

describe('a tool that asks its caller', () => {
  it('gets a form in the tester, and a link', async () => {
    const { page, done } = await board.open('/ui/tester?tool=toy.trip');
    await page.locator('[data-tool="toy.trip"] [data-state="asks_input"]').waitFor();
    await page.locator('[data-run]').click();
    const form = asked(page, 'Where to?');
    await form.getByRole('timer').waitFor();
    await page.mouse.move(0, 0);
    expect(await seriousIn(page)).toEqual([]);
    await form.locator('[data-respond]').click();
    await form.getByRole('alert').first().waitFor();
    await form.locator('[data-field="/city"] input').fill('Rom');
    await expect.poll(() => form.locator('[data-field="/days"] input').inputValue()).toBe('3');
    await form.locator('[data-respond]').click();
    const link = asked(page, 'Pay, please');
    await link.getByRole('link', { name: 'https://pay.example/7' }).waitFor();
    await link.locator('[data-respond]').click();
    await page.locator('[data-result]', { hasText: '"Rom"' }).waitFor();
    await page.locator('[data-result] [data-state="COMPLETED"]').waitFor();
    await done();
  });

  it('gets a form on the call page of its own calls only; the others show the question', async () => {
    const agent = createClient({ url: board.url, agentId: 'alice' });
    const operator = createClient({ url: board.url, key: board.server.operatorToken });
    const { tool_call_id: foreign } = await agent.invoke('toy.trip');
    const { page, done } = await board.open(`/ui/calls/${foreign}`);
    const card = asked(page, 'Where to?');
    await card.getByText('alice').waitFor();
    expect(await card.locator('form').count()).toBe(0);
    await page.locator('[data-state="INPUT_REQUIRED"]').first().waitFor();
    // Live: the agent responds, and the page shows the next question and the response.
    const { input_request: request } = await agent.get(foreign);
    await agent.respondInput(foreign, { id: request!.id, content: { city: 'Oslo' } });
    await asked(page, 'Pay, please').waitFor();
    await page.locator('[data-input-rounds]', { hasText: '"Oslo"' }).waitFor();
    await agent.cancel(foreign);
    await card.waitFor({ state: 'detached' });

    const { tool_call_id: own } = await operator.invoke('toy.trip');
    await page.goto(`${board.url}/ui/calls/${own}`);
    await asked(page, 'Where to?').locator('[data-decline]').click();
    await page.locator('[data-state="FAILED"]').first().waitFor();
    expect((await operator.get(own)).error?.code).toBe('input_declined');
    await done();
  });

  it('shows a request for a language model, to which no person can respond', async () => {
    const operator = createClient({ url: board.url, key: board.server.operatorToken });
    const accepts = { acceptsInput: ['sampling'] } as const;
    const { tool_call_id: id } = await operator.invoke('toy.summary', {}, accepts);
    const { page, done } = await board.open(`/ui/calls/${id}`);
    const card = asked(page, 'Summarise');
    await card.getByText('It asks for a message of the language model').waitFor();
    await card.getByText('a long page').waitFor();
    expect(await card.locator('form').count()).toBe(0);
    await done();
  });
});
