import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ExplainView, LedgerRowView, LedgerVerdictView, PolicyReviewView } from '@patchboard/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LONG, NOWHERE, Workplace } from './cli-process.ts';

let place: Workplace;
let stop: () => Promise<void>;

beforeAll(async () => {
  place = await Workplace.create();
  stop = await place.serve(`policy: {default: {requireApprovalTools: ['calculation.*']}}\n`);
}, LONG);

afterAll(async () => {
  await stop();
  await place.remove();
}, LONG);

describe('policy check', { timeout: LONG }, () => {
  it('needs no server, and says ok or every problem with its line', async () => {
    const good = await place.write('good.yaml', 'limits: {drain_ms: 5}\npolicy:\n  default: {mode: ask}\n');
    const nowhere = { PATCHBOARD_URL: NOWHERE };
    expect(await place.run(['policy', 'check', good], nowhere)).toEqual({
      code: 0,
      out: `${good}: ok\n`,
      error: '',
    });
    const bad = await place.write('bad.yaml', 'default:\n  mode: maybe\nagents:\n  bob: {rules: 7}\n');
    const checked = await place.run(['policy', 'check', bad], nowhere);
    expect(checked.code).toBe(2);
    expect(checked.out).toContain(`${bad}:2: default.mode must be one of`);
    expect(checked.out).toContain(`${bad}:4: agents.bob.rules must be a list`);
    const { code, out } = await place.run(['policy', 'check', bad, '--json'], nowhere);
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ ok: false, problems: [{ line: 4 }, { line: 2 }] });
    expect((await place.run(['policy', 'check', 'missing.yaml'])).code).toBe(2);
  });
});

describe('policy check with a server', { timeout: LONG }, () => {
  const TYPO =
    'default.autoAllowTools[0]: "calculation.evl" matches no tool that is registered now; did you mean calculation.eval?';

  it('warns of what has no effect, says what matches, and exits 0 all the same', async () => {
    const file = await place.write(
      'typo.yaml',
      'default: {autoAllowTools: [calculation.evl, "weather.*"]}\n',
    );
    expect(await place.run(['policy', 'check', file, '--online'])).toEqual({
      code: 0,
      out: [
        `${file}: ok`,
        `warning  ${TYPO}`,
        'default.autoAllowTools[1]: "weather.*" matches 1 tool: weather.query\n',
      ].join('\n'),
      error: '',
    });
    const json = await place.json<PolicyReviewView>(['policy', 'check', file, '--online']);
    expect(json.warnings.map(({ code }) => code)).toEqual(['pattern_matches_nothing']);
  });

  it('looks at the policy in force when it is given no file', async () => {
    const { code, out } = await place.run(['policy', 'check']);
    expect({ code, out }).toEqual({
      code: 0,
      out: 'version 0: ok\ndefault.requireApprovalTools[0]: "calculation.*" matches 1 tool: calculation.eval\n',
    });
  });
});

describe('policy explain', { timeout: LONG }, () => {
  const question = ['policy', 'explain', 'calculation.eval', 'expression=1', '--agent', 'bob'];

  it('tells effect, rule, reason and what else matched', async () => {
    const { code, out } = await place.run(question);
    expect(code).toBe(0);
    expect(out).toBe(
      [
        'effect   ask',
        'rule     default.requireApprovalTools[0]',
        'reason   the pattern calculation.* matches the tool',
        'also     allow annotations: the tool is not marked as risky',
        'listed   yes',
        'policy   version 0',
        '',
      ].join('\n'),
    );
  });

  it('asks the policy in a file instead', async () => {
    const file = await place.write(
      'strict.yaml',
      `agents:\n  bob:\n    mode: deny\n    rules:\n      - {tools: 'calculation.*', effect: allow, when: [{arg: /expression, prefix: '1'}]}\n`,
    );
    const view = await place.json<ExplainView>([...question, '--file', file]);
    expect(view).toMatchObject({ effect: 'allow', rule: 'agents.bob.rules[0]', policy_version: null });
    const other = ['policy', 'explain', 'calculation.eval', 'expression=2', '--agent', 'bob', '--file', file];
    expect((await place.run(other)).out).toContain('effect   deny');
    const broken = await place.write('broken.yaml', 'agents: 7\n');
    const refused = await place.run([...question, '--file', broken]);
    expect(refused.code).toBe(2);
    expect(refused.error).toContain('broken.yaml:1: agents must be an object');
  });

  it('knows what is missing', async () => {
    expect((await place.run(['policy', 'explain', 'no.such', '--agent', 'bob'])).code).toBe(5);
    expect((await place.run(['policy', 'explain', 'calculation.eval'])).code).toBe(2);
    expect((await place.run(question, { PATCHBOARD_URL: NOWHERE })).code).toBe(6);
  });
});

describe('ledger', { timeout: LONG }, () => {
  it('is listed, exported and verified, and a change in it is found', async () => {
    await place.run(['call', 'calculation.eval', 'expression=1', '--no-wait']);
    const { rows } = await place.json<{ rows: LedgerRowView[] }>(['ledger', 'ls', '--limit', '2']);
    expect(rows.map((row) => row.seq)).toEqual([1, 2]);
    const after = await place.json<{ rows: LedgerRowView[] }>(['ledger', 'ls', '--after', '2']);
    expect(after.rows[0]?.seq).toBe(3);
    expect((await place.run(['ledger', 'ls', '--limit', 'x'])).code).toBe(2);

    const verdict = await place.json<LedgerVerdictView>(['ledger', 'verify']);
    const served = await place.json<LedgerVerdictView>(['ledger', 'verify', '--from', verdict.checkpoint!]);
    expect(served).toEqual({ ...verdict, rows: 0 });
    expect(verdict).toMatchObject({ ok: true, seq: null });
    const exported = await place.run(['ledger', 'export']);
    const lines = exported.out.trimEnd().split('\n');
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ head: verdict.head });
    expect(
      lines
        .slice(0, -1)
        .map((line) => (JSON.parse(line) as LedgerRowView).hash)
        .at(-1),
    ).toBe(verdict.head!.hash);
    const file = join(place.folder, 'ledger.jsonl');
    expect(await place.json(['ledger', 'export', '--out', file])).toMatchObject({
      file,
      rows: lines.length - 1,
    });
    expect(readFileSync(file, 'utf8').split('\n').slice(0, -2)).toEqual(lines.slice(0, -1));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const hashes = (await place.run(['ledger', 'export', '--select', '.hash'])).out.split('\n');
    expect(hashes.slice(0, lines.length - 1)).toEqual(
      lines.slice(0, -1).map((line) => (JSON.parse(line) as LedgerRowView).hash),
    );

    const busy = await place.run(['ledger', 'verify', '--data', place.data]);
    expect(busy.code).toBe(6);
    expect(busy.error).toContain('in use by a running server');
    await stop();
    const offline = await place.run(['ledger', 'verify', '--data', place.data]);
    expect(offline).toMatchObject({ code: 0, out: expect.stringContaining(verdict.head!.hash) as string });

    const { seq, hash } = verdict.head!;
    expect(verdict.checkpoint).toBe(`${seq}:${hash}`);
    const ending = `head ${seq} ${hash}\ncheckpoint: ${seq}:${hash}\n`;
    expect(offline.out).toBe(`ok: ${verdict.rows} rows, ${ending}`);
    const verifyFrom = (from: string): ReturnType<typeof place.run> =>
      place.run(['ledger', 'verify', '--data', place.data, '--from', from]);
    expect(await verifyFrom(`${seq}:${hash}`)).toMatchObject({
      code: 0,
      out: `ok: 0 rows after row ${seq}, ${ending}`,
    });
    const third = `3:${after.rows[0]!.hash}`;
    expect(await verifyFrom(third)).toMatchObject({
      code: 0,
      out: `ok: ${seq - 3} rows after row 3, ${ending}`,
    });
    const other = 'f'.repeat(64);
    const wrong = await verifyFrom(`3:${other}`);
    expect(wrong.code).toBe(1);
    expect(wrong.out).toContain(
      `BROKEN at row 3: the checkpoint expects the hash ${other} of the row, found ${after.rows[0]!.hash}. `,
    );
    expect(wrong.error).toBe('');
    for (const malformed of ['3', `x:${hash}`, '3:abc', '']) {
      const refused = await verifyFrom(malformed);
      expect(refused.code).toBe(2);
      expect(refused.error).toContain(`--from: "${malformed}" is not a checkpoint <seq>:<hash>`);
    }

    const database = new DatabaseSync(join(place.data, 'patchboard.db'));
    database.exec(`drop trigger ledger_keeps_rows; update ledger set body = '{}' where seq = 2`);
    database.close();
    const broken = await place.run(['ledger', 'verify', '--data', place.data]);
    expect(broken).toMatchObject({ code: 1, out: 'BROKEN at row 2: the row was changed\n' });
    // Rows before the checkpoint are not read, its own row and later ones are.
    expect((await verifyFrom(third)).code).toBe(0);
    for (const row of [seq, 3]) {
      const tampered = new DatabaseSync(join(place.data, 'patchboard.db'));
      tampered.prepare(`update ledger set tenant = 'forged' where seq = ?`).run(row);
      tampered.close();
      expect(await verifyFrom(third)).toMatchObject({
        code: 1,
        out: `BROKEN at row ${row}: the row was changed\n`,
      });
    }
    expect((await place.run(['ledger', 'verify', '--data', place.folder])).code).toBe(2);
    expect((await place.run(['ledger', 'verify'])).code).toBe(6);
  });
});
