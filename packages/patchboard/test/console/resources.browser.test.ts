import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ResourceRegistry } from '../../src/sdk/resource-registry.ts';
import { aServerTool } from '../support/an-engine.ts';
import { aConsole, type TestConsole } from './support/a-console.ts';

const registry = new ResourceRegistry({
  resources: [
    {
      uri: 'notes://today',
      name: 'today',
      title: 'Notes of today',
      description: 'What happened today.',
      mimeType: 'text/markdown',
      read: () => `# Today\n\n- ${text}`,
    },
    {
      uri: 'notes://sketch',
      name: 'sketch',
      mimeType: 'image/gif',
      read: () => [{ blob: picture }],
    },
  ],
  prompts: [
    {
      name: 'review',
      title: 'Review a page',
      description: 'Asks for a review of one page.',
      arguments: [{ name: 'page', description: 'The page to review.', required: true }, { name: 'tone' }],
      get: ({ page }) => ({
        messages: [
          { role: 'user', content: `Please review ${page}.` },
          { role: 'assistant', content: 'I will.' },
        ],
      }),
    },
  ],
});
let text = 'first';
/** One white pixel. */
const PIXEL = 'R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==';
let picture = 'AAAA';
let board: TestConsole;

beforeAll(async () => {
  board = await aConsole({
    tools: [aServerTool({ name: 'toy.echo', description: 'Returns its arguments' })],
    resources: { resourceSource: registry },
  });
});
afterAll(async () => {
  await board?.close();
});

describe('resources in the console', () => {
  it('are listed, read, and read again when they change', async () => {
    const { page, done } = await board.open('/ui/resources');
    await page.locator('[data-live="live"]').waitFor();
    await page.getByRole('button', { name: /Notes of today/ }).click();
    const detail = page.locator('[data-resource-detail]');
    await detail.getByText('- first').waitFor();
    text = 'second';
    registry.updated('notes://today');
    await detail.getByText('- second').waitFor();
    registry.addResource({ uri: 'notes://later', name: 'later', read: () => 'later' });
    await page.getByRole('button', { name: /notes:\/\/later/ }).waitFor();
    registry.remove({ resources: ['notes://later'] });
    await page.getByRole('button', { name: /notes:\/\/later/ }).waitFor({ state: 'detached' });
    await page.getByRole('textbox', { name: 'Search resources and prompts' }).fill('contract');
    await page.getByRole('button', { name: /Notes of today/ }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /Tool contract/ }).click();
    await detail.getByLabel('name').fill('toy.');
    await expect.poll(() => detail.locator('option').first().getAttribute('value')).toBe('toy.echo');
    await detail.getByLabel('name').fill('toy.echo');
    await detail.getByRole('button', { name: 'Read' }).click();
    await detail.getByText('"name":"toy.echo"').waitFor();
    await done();
  });

  it('show a picture that could not be read once it can', async () => {
    const { page, done } = await board.open('/ui/resources');
    await page.locator('[data-live="live"]').waitFor();
    await page.getByRole('button', { name: /notes:\/\/sketch/ }).click();
    const detail = page.locator('[data-resource-detail]');
    await detail.getByText('The browser cannot show this.').waitFor();
    picture = PIXEL;
    const read = page.waitForResponse('**/v1/resources/read*');
    registry.updated('notes://sketch');
    await (await read).finished();
    await expect.poll(() => detail.getByRole('img').count(), { timeout: 20_000 }).toBe(1);
    await done();
  });

  it('are shown in Chinese and in the dark, prompts with their messages', async () => {
    const { page, done } = await board.open('/ui/resources', { locale: 'zh-CN', colorScheme: 'dark' });
    await page.getByRole('button', { name: /Review a page/ }).click();
    const detail = page.locator('[data-resource-detail]');
    const get = detail.getByRole('button', { name: '获取消息' });
    expect(await get.isDisabled()).toBe(true);
    await detail.getByLabel('page').fill('one');
    await get.click();
    await detail.getByText('Please review one.').waitFor();
    await detail.getByRole('heading', { name: '助手' }).waitFor();
    await detail.getByLabel('tone').fill('x');
    await done();
  });
});
