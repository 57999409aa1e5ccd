import { createClient, type PatchboardClient } from '@patchboard/client';
import type { ApprovalRequestView, CallView, GrantView } from '@patchboard/wire';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LONG, Workplace } from './cli-process.ts';

const POLICY = `policy: {default: {requireApprovalTools: ['calculation.*']}}\nlimits: {approval_expiry_ms: 600000}\n`;

let place: Workplace;
let stop: () => Promise<void>;
let operator: PatchboardClient;

beforeAll(async () => {
  place = await Workplace.create();
  stop = await place.serve(POLICY);
  operator = await place.client();
}, LONG);

afterAll(async () => {
  await stop();
  await place.remove();
}, LONG);

/** Nothing waits for the next test. */
afterEach(async () => {
  for await (const { tool_call_id: id, digest } of operator.approvals()) {
    await operator.decide(id, { decision: 'deny', digest });
  }
});

/** Called by an agent, because a caller cannot decide its own call. */
async function ask(expression: string): Promise<string> {
  const agent = createClient({ url: place.environment['PATCHBOARD_URL']! });
  return (await agent.invoke('calculation.eval', { expression })).tool_call_id;
}

function show(id: string): Promise<CallView> {
  return operator.get(id);
}

function ended(id: string): Promise<CallView> {
  return operator.wait(id, { timeoutMs: 30_000 });
}

describe('approve and deny', { timeout: LONG }, () => {
  it('decide the only waiting call, but only with --yes in a script', async () => {
    const none = await place.run(['approve', '--yes']);
    expect(none).toMatchObject({ code: 2, out: '' });
    expect(none.error).toContain('nothing waits');

    const id = await ask('6*7');
    const listed = await place.run(['approve']);
    expect(listed.code).toBe(2);
    expect(listed.out).toContain(id);
    expect((await show(id)).state).toBe('APPROVAL_REQUIRED');

    const approved = await place.run(['approve', '--yes', '--note', 'fine']);
    expect(approved).toMatchObject({ code: 0, out: `${id} approved\n` });
    expect(approved.error).toContain('"expression": "6*7"');
    expect(approved.error).toContain('default.requireApprovalTools[0]');
    const call = await ended(id);
    expect(call).toMatchObject({ result: { value: 42 }, approval: { decision: 'allow', note: 'fine' } });

    const again = await place.run(['approve', id]);
    expect(again).toMatchObject({ code: 1, out: '' });
    expect(again.error).toContain('does not wait for a decision');
    expect((await place.run(['deny', 'tc_none'])).code).toBe(5);
  });

  it('take none of several unless it is named, and a denial tells the model why', async () => {
    const first = await ask('1');
    const second = await ask('2');
    const several = await place.run(['deny', '--yes']);
    expect(several.code).toBe(2);
    expect(several.out).toContain(first);
    expect(several.out).toContain(second);

    const denied = await place.json<CallView>(['deny', first, '--note', 'not \u202e today']);
    expect(denied).toMatchObject({ tool_call_id: first, state: 'DENIED' });
    expect((await show(first)).error).toMatchObject({ code: 'approval_denied', note: 'not \u202e today' });
    expect((await show(second)).state).toBe('APPROVAL_REQUIRED');
  });

  it('run a call with other arguments, if they fit', async () => {
    const id = await ask('1+1');
    const wrong = await place.run(['approve', id, '--args', '{"expression": 5}']);
    expect(wrong.code).toBe(2);
    expect(wrong.error).toContain('expression');
    expect((await place.run(['approve', id, '--args', '{'])).code).toBe(2);

    const edited = await place.run(['approve', id, '--args', '{"expression":"2+2"}']);
    expect(edited.code).toBe(0);
    expect(edited.error).toContain('-   "expression": "1+1"\n+   "expression": "2+2"');
    const call = await ended(id);
    expect(call).toMatchObject({ args: { expression: '2+2' }, result: { value: 4 } });
    expect(call.approval).toMatchObject({ original_args: { expression: '1+1' } });
  });

  it('create a grant that can be revoked', async () => {
    const id = await ask('3*3');
    expect((await place.run(['approve', id, '--for', '1h'])).code).toBe(2);
    expect((await place.run(['approve', id, '--always', 'tool', '--for', '1h'])).code).toBe(0);
    expect(await place.run(['call', 'calculation.eval', 'expression=4*4'])).toMatchObject({
      code: 0,
      out: '16\n',
    });

    const { grants } = await place.json<{ grants: GrantView[] }>(['grants']);
    expect(grants).toMatchObject([{ tool_name: 'calculation.eval', agent_id: 'local', scope: 'tool' }]);
    const [grant] = grants;
    expect(Date.parse(grant!.expires_at!) - Date.parse(grant!.created_at)).toBe(3_600_000);
    expect((await place.run(['grants', 'ls'])).out).toContain('any arguments');
    expect((await place.run(['grants', 'revoke', grant!.grant_id])).code).toBe(0);
    expect((await place.run(['grants', 'revoke', grant!.grant_id])).code).toBe(5);

    const exact = await ask('5*5');
    await place.run(['approve', exact, '--always', 'exact']);
    expect((await place.run(['call', 'calculation.eval', 'expression=5*5'])).out).toBe('25\n');
    expect((await show(await ask('5*6'))).state).toBe('APPROVAL_REQUIRED');
    const left = await place.json<{ grants: GrantView[] }>(['grants', 'ls']);
    expect(left.grants).toMatchObject([{ scope: 'exact', expires_at: null }]);
    await place.run(['grants', 'revoke', left.grants[0]!.grant_id]);
  });

  it('need the operator: being on the machine is not enough', async () => {
    const id = await ask('1');
    const refused = await place.run(['approve', id], { PATCHBOARD_DATA: `${place.folder}/none` });
    expect(refused).toMatchObject({ code: 3, out: '' });
    expect(refused.error).toContain('contains no operator token');
    const json = await place.run(['approve', id, '--json'], { PATCHBOARD_DATA: `${place.folder}/none` });
    expect(JSON.parse(json.error)).toMatchObject({ error: { code: 'permission_denied', status: 403 } });
  });

  it('are visible to the command that waits for the call', async () => {
    const call = ['call', 'calculation.eval', 'expression=1'];
    const waiting = place.run(call);
    await expect
      .poll(() => place.run(['deny', '--yes']).then(({ code }) => code), { timeout: 60_000 })
      .toBe(0);
    expect((await waiting).code).toBe(3);
    expect((await place.run([...call, '--timeout', '1'])).code).toBe(4);
    expect((await place.run(['call', 'calculation.eval', 'expression=1', '--dry-run'])).out).toContain('ask');
  });
});

describe('inbox without a terminal', { timeout: LONG }, () => {
  it('prints what waits, once', async () => {
    const id = await ask('1');
    const listed = await place.run(['inbox']);
    expect(listed.code).toBe(0);
    expect(listed.out).toContain(id);
    expect(listed.out).not.toContain('\u001b');
    const { approvals } = await place.json<{ approvals: ApprovalRequestView[] }>(['inbox']);
    expect(approvals).toMatchObject([{ tool_call_id: id, args: { expression: '1' } }]);
  });
});

describe('in a terminal', { timeout: LONG }, () => {
  it('approve asks first, and no is the default', async () => {
    const id = await ask('6*7');
    const no = await place.terminal([['Let it run\\? \\[y/N\\] ', '\n']], ['approve']);
    expect(no).toMatchObject({ code: 2, failed: null });
    expect(no.transcript).toContain('"expression": "6*7"');
    expect((await show(id)).state).toBe('APPROVAL_REQUIRED');
    const yes = await place.terminal([['Let it run\\?', 'y\n']], ['approve', id]);
    expect(yes).toMatchObject({ code: 0, failed: null });
    expect((await ended(id)).result).toEqual({ value: 42 });
  });

  it('inbox approves, edits and denies with single keys, and gives the terminal back', async () => {
    const first = await ask('1+1');
    const second = await ask('2+2');
    const third = await ask('3+3');
    const session = await place.terminal(
      [
        ['(?s)3 waiting.*J/K move', 'a'],
        [`approved calculation\\.eval ${first}`, '\u001b[B'],
        ['"expression": "3\\+3"', 'k'],
        ['"expression": "2\\+2"', 'e'],
        ['\\+ {3}"expression": "7\\*7"', 'y'],
        [`approved calculation\\.eval ${second}`, 'r'],
        // The list is short of one request by now, and the selection moved by itself: look before you press.
        ['(?s)expires   in \\d+:\\d\\d.*expires   in \\d+:\\d\\d', 'd'],
        ['Reason:', 'no\r'],
        [`denied calculation\\.eval ${third}`, 'q'],
      ],
      ['inbox'],
      { EDITOR: 'sed -i s/2+2/7*7/' },
    );
    expect(session).toMatchObject({ failed: null, code: 0, cooked: true });
    expect(session.transcript.endsWith('\u001b[?25h\u001b[?1049l')).toBe(true);
    expect((await ended(first)).result).toEqual({ value: 2 });
    expect((await ended(second)).result).toEqual({ value: 49 });
    expect((await show(third)).error).toMatchObject({ code: 'approval_denied', note: 'no' });
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['\u0003', 0],
  ])('inbox gives the terminal back on %j', async (keys, code) => {
    const session = await place.terminal([['nothing waits', keys]], ['inbox']);
    expect(session).toMatchObject({ failed: null, code, cooked: true });
    expect(session.transcript).toContain('\u001b[?1049l');
  });
});
