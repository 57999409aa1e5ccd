import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aConsole, type TestConsole } from './support/a-console.ts';
import { echo, remove } from './support/toys.ts';

let board: TestConsole;
beforeAll(async () => {
  board = await aConsole({ tools: [echo, remove] });
});
afterAll(async () => {
  await board?.close();
});

const START = '<<<[TOOL_REQUEST]>>>';
const END = '<<<[END_TOOL_REQUEST]>>>';

/** Replies that hold a problem, by protocol. */
const DAMAGED: Readonly<Record<string, readonly string[]>> = {
  vcp: [
    `${START}\ntool_name:「始」toy.remove「末」\npath:「始」/x`,
    `${START}\ntool_name:「始」toy.remove「末」\npath:「始」/x「末」`,
    `${START}\ntool_name:「始」toy.remove「末」\n${START}\ntool_name:「始」toy.echo「末」\n${END}`,
    `${START}\npath:「始」/x「末」\n${END}`,
    `${START}\ntool_name:「始」toy.remove「末」\npath:「始」/x「末」\npath:「始」/y「末」\n${END}`,
    `${START}\ntool_name:「始」toy.remove「末」\nand some words\n${END}`,
    `${START}\ntool_name:「始」toy.remove「末」\n${END}`,
    `${START}\ntool_name:「始」toy.remove「末」\npath:「始」/x「末」\ncount:「始」many「末」\n${END}`,
    `${START}\ntool_name:「始」toy.gone「末」\n${END}`,
  ],
  anthropic: ['{"type": "message"}'],
  openai: ['{"id": "x"}'],
};

/** Words of English; names in quotes, marks and codes are no words of any language. */
function englishIn(text: string): string[] {
  return text.replaceAll(/"[^"]*"|<<<.*?>>>|\b\w+[._:]\S*/g, '').match(/\b[A-Za-z]{2,}\b/g) ?? [];
}

describe('the Chinese console', () => {
  it('says what is wrong with a reply', async () => {
    const { page, done } = await board.open('/ui/tester?pane=parser', { locale: 'zh-CN' });
    const problem = page.locator('[data-problem] p').first();
    for (const [protocol, replies] of Object.entries(DAMAGED)) {
      await page.goto(`${board.url}/ui/tester?pane=parser&protocol=${protocol}`);
      for (const reply of replies) {
        // So that the problem which is read is not that of the reply before.
        await page.locator('[data-reply]').fill('');
        await problem.waitFor({ state: 'detached' });
        await page.locator('[data-reply]').fill(reply);
        await problem.waitFor();
        expect({ reply, english: englishIn(await problem.innerText()) }).toEqual({ reply, english: [] });
      }
    }
    await done();
  });

  it('says where a text is no JSON', async () => {
    const { page, done } = await board.open(
      '/ui/tester?tool=toy.echo&view=json&args=%7B%0A%20%22a%22%3A%20%0A%7D',
      {
        locale: 'zh-CN',
      },
    );
    await page.getByRole('alert').filter({ hasText: '第 3 行第 1 列：此处应有一个值' }).waitFor();
    await done();
  });

  it('says why a call was allowed, why one waits, and what a failure means', async () => {
    const invoke = (tool: string, args: unknown) =>
      board.server.ask({ method: 'POST', path: `/v1/tools/${tool}/invoke`, body: { run_id: 'r', args } });
    const ran = (await invoke('toy.echo', {})).json as { tool_call_id: string };
    await invoke('toy.remove', { path: '/x' });
    const { page, done } = await board.open(`/ui/calls/${ran.tool_call_id}`, { locale: 'zh-CN' });
    await page.getByText('工具没有标记为有风险').waitFor();
    // It is above codes and above states.
    await page.getByRole('columnheader', { name: '结束情况' }).waitFor();
    await page.goto(`${board.url}/ui/approvals`);
    await page.locator('[data-approval-detail]', { hasText: '工具有破坏性' }).waitFor();
    await page.goto(`${board.url}/ui/calls/tc_none`);
    await page.locator('[data-state="failed"]', { hasText: '没有这次调用：' }).waitFor();
    await done();
  });
});
